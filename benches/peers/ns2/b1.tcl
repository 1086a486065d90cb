# Benchmark B1 for ns-2 2.35: ten CBR flows of 120 Mb/s overload one 1 Gb/s tail-drop queue by 1.2.
# usage: ns b1.tcl ?T=10? ?count=0?
#   T      simulated seconds; 0 builds the network and stops, which is the set-up cost
#   count  1: monitor every link and print the packet-hops (slow; never timed)
#
#   s0 --1 Gb/s 1 ms--.                                  .--1 Gb/s 1 ms-- d0
#   ..                a ==1 Gb/s 5 ms, 1000 waiting===> b                 ..
#   s9 ---------------'                                  '--------------- d9
#
# ns-2's `limit_ N` keeps N-1 packets waiting beside the one being sent (DropTail::enque), hence 1001.
array set P {T 10 count 0}
foreach a $argv { lassign [split $a =] k v; set P($k) $v }
set flows 10; set wire 1500; set period 1e-4; set unlimited 1000000

# Packets carry only the headers that this network reads.
remove-all-packet-headers
add-packet-header IP RTP Flags
set ns [new Simulator]
set a [$ns node]; set b [$ns node]
Queue set limit_ 1001
$ns simplex-link $a $b 1Gb 5ms DropTail
Queue set limit_ $unlimited
$ns simplex-link $b $a 1Gb 5ms DropTail
for {set i 0} {$i < $flows} {incr i} {
  set s [$ns node]; set d [$ns node]
  $ns duplex-link $s $a 1Gb 1ms DropTail
  $ns duplex-link $b $d 1Gb 1ms DropTail
  set udp [new Agent/UDP]; set sink [new Agent/Null]
  $udp set packetSize_ $wire; $udp set fid_ $i
  $ns attach-agent $s $udp; $ns attach-agent $d $sink; $ns connect $udp $sink
  set cbr [new Application/Traffic/CBR]
  $cbr set packetSize_ $wire; $cbr set rate_ [expr {$wire * 8 / $period}]; $cbr set random_ 0
  $cbr attach-agent $udp
  $ns at [expr {$i * $period / $flows}] "$cbr start"
}
set bottleneck [$ns monitor-queue $a $b ""]
set monitors [list $bottleneck]
if {$P(count)} {
  foreach l [$ns all-links-list] {
    if {!([$l src] eq $a && [$l dst] eq $b)} { lappend monitors [$ns monitor-queue [$l src] [$l dst] ""] }
  }
}
proc finish {} {
  global bottleneck monitors P
  set hops 0
  foreach m $monitors { incr hops [expr {int([$m set pdepartures_])}] }
  puts "arrivals [expr {int([$bottleneck set parrivals_])}]"
  puts "drops [expr {int([$bottleneck set pdrops_])}]"
  if {$P(count)} { puts "hops $hops" }
  puts "version [ns-version]"
  exit 0
}
$ns at $P(T) finish
$ns run
