# Benchmark B3 for ns-2 2.35: N NewReno flows share one 1 Gb/s tail-drop queue; base RTT 24 ms.
# usage: ns b3.tcl ?flows=4? ?T=10? ?count=0? ?seed=1? ?sack=0?
#   flows  number of TCP flows
#   T      simulated seconds; 0 builds the network and stops, which is the set-up cost
#   count  1: monitor every link and print the packet-hops (slow; never timed)
#   seed   of the start times
#   sack   1: Sack1 agents, and one ACK for two packets
#
#   s0 --10 Gb/s 1 ms--.                                    .--10 Gb/s 1 ms-- d0
#   ..                 a ==1 Gb/s 10 ms, 2000 waiting====> b                  ..
#   sN ----------------'                                    '---------------- dN
#
# Data are 1500 B on the wire (1460 + 40), ACKs 60 B, one per packet; the first packet, a SYN, is 40 B.
# ns-2's `limit_ N` keeps N-1 packets waiting beside the one being sent (DropTail::enque), hence 2001.
array set P {flows 4 T 10 count 0 seed 1 sack 0}
foreach a $argv { lassign [split $a =] k v; set P($k) $v }
set unlimited 1000000

# Packets carry only the headers that this network reads.
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCPSink set packetSize_ 60
Agent/TCPSink/Sack1/DelAck set packetSize_ 60
set rng [new RNG]; $rng seed $P(seed)
set start [new RandomVariable/Uniform]
$start set min_ 0; $start set max_ 0.1; $start use-rng $rng
set a [$ns node]; set b [$ns node]
Queue set limit_ 2001
$ns simplex-link $a $b 1Gb 10ms DropTail
Queue set limit_ $unlimited
$ns simplex-link $b $a 1Gb 10ms DropTail
for {set i 0} {$i < $P(flows)} {incr i} {
  set s [$ns node]; set d [$ns node]
  $ns duplex-link $s $a 10Gb 1ms DropTail
  $ns duplex-link $b $d 10Gb 1ms DropTail
  if {$P(sack)} {
    set tcp [new Agent/TCP/Sack1]; set sink [new Agent/TCPSink/Sack1/DelAck]
  } else {
    set tcp [new Agent/TCP/Newreno]; set sink [new Agent/TCPSink]
  }
  $tcp set fid_ $i
  $ns attach-agent $s $tcp; $ns attach-agent $d $sink; $ns connect $tcp $sink
  set ftp [new Application/FTP]; $ftp attach-agent $tcp
  $ns at [$start value] "$ftp start"
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
