// Benchmarks B1 and B3 for ns-3 (written for 3.37). Prints one JSON object.
//
//   peers --case=b1 --seconds=1
//   peers --case=b3 --flows=64 --seconds=1
//
// --seconds=0 builds the network and stops, which is the set-up cost.
//
//   s0 --access--.                           .--access-- d0
//   ..           a ==bottleneck 1 Gb/s====> b            ..
//   sN ----------'                           '---------- dN
//
// b1: ten CBR flows of 120 Mb/s; access 1 Gb/s 1 ms; bottleneck 5 ms, 1000 packets waiting.
// b3: TCP NewReno with SACK, one ACK per segment or as `--delayed` says; access 10 Gb/s 1 ms; bottleneck 10 ms, 2000 packets waiting.
// The bottleneck's FifoQueueDisc holds one packet fewer than the case asks for: its device queue holds the last one.
// Data packets are 1500 B on the wire, PPP header included.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cinttypes>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kWire = 1500;
constexpr uint32_t kPpp = 2;
constexpr uint32_t kIpUdp = 20 + 8;
constexpr uint32_t kIpTcpTimestamps = 20 + 20 + 12;
const char* const kUnlimited = "1000000p";

struct Case
{
    bool tcp;
    uint32_t flows;
    const char* accessRate;
    const char* bottleneckDelay;
    uint32_t waiting;
};

void
Configure(uint32_t segment, uint32_t delayed)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpNewReno")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1u << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1u << 24));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayed));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string name = "b1";
    uint32_t flows = 4;
    uint32_t delayed = 1;
    double seconds = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("case", "b1 or b3", name);
    cmd.AddValue("flows", "TCP flows of b3", flows);
    cmd.AddValue("delayed", "segments per ACK of b3", delayed);
    cmd.AddValue("seconds", "simulated seconds", seconds);
    cmd.Parse(argc, argv);
    if (name != "b1" && name != "b3")
    {
        std::fprintf(stderr, "unknown case %s: b1 and b3 exist\n", name.c_str());
        return 2;
    }
    const Case c = name == "b3" ? Case{true, flows, "10Gbps", "10ms", 2000} : Case{false, 10, "1Gbps", "5ms", 1000};
    const uint32_t segment = kWire - kPpp - kIpTcpTimestamps;
    Configure(segment, delayed);

    NodeContainer sources;
    NodeContainer sinks;
    NodeContainer routers;
    sources.Create(c.flows);
    sinks.Create(c.flows);
    routers.Create(2);

    Ipv4NixVectorHelper nix;
    InternetStackHelper stack;
    stack.SetRoutingHelper(nix);
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue(c.accessRate));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(kUnlimited));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue(c.bottleneckDelay));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));

    std::vector<Ptr<PointToPointNetDevice>> devices;
    TrafficControlHelper noDisc;
    TrafficControlHelper fifo;
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(std::to_string(c.waiting - 1) + "p"));
    NetDeviceContainer middle = bottleneck.Install(routers);
    DynamicCast<PointToPointNetDevice>(middle.Get(1))->GetQueue()->SetMaxSize(QueueSize(kUnlimited));
    Ptr<QueueDisc> disc = fifo.Install(middle.Get(0)).Get(0);
    Ipv4AddressHelper address;
    address.SetBase("10.255.255.0", "255.255.255.252");
    address.Assign(middle);
    noDisc.Uninstall(middle.Get(1));
    for (uint32_t k = 0; k < 2; k++)
    {
        devices.push_back(DynamicCast<PointToPointNetDevice>(middle.Get(k)));
    }
    std::vector<Ipv4Address> destination(c.flows);
    for (uint32_t i = 0; i < c.flows; i++)
    {
        for (uint32_t side = 0; side < 2; side++)
        {
            NetDeviceContainer pair = access.Install(side == 0 ? sources.Get(i) : sinks.Get(i), routers.Get(side));
            address.SetBase(Ipv4Address((10u << 24) | ((side + 1u) << 16) | (i << 2)), "255.255.255.252");
            Ipv4InterfaceContainer interfaces = address.Assign(pair);
            noDisc.Uninstall(pair);
            if (side == 1)
            {
                destination[i] = interfaces.GetAddress(0);
            }
            for (uint32_t k = 0; k < 2; k++)
            {
                devices.push_back(DynamicCast<PointToPointNetDevice>(pair.Get(k)));
            }
        }
    }

    const uint16_t port = 5000;
    const Time period = MicroSeconds(100);
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < c.flows; i++)
    {
        const std::string factory = c.tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(sinks.Get(i)).Start(Seconds(0));
        if (c.tcp)
        {
            BulkSendHelper bulk(factory, InetSocketAddress(destination[i], port));
            bulk.SetAttribute("MaxBytes", UintegerValue(0));
            bulk.SetAttribute("SendSize", UintegerValue(segment));
            bulk.Install(sources.Get(i)).Start(Seconds(start->GetValue(0, 0.1)));
        }
        else
        {
            UdpClientHelper cbr(InetSocketAddress(destination[i], port));
            cbr.SetAttribute("MaxPackets", UintegerValue(std::numeric_limits<uint32_t>::max()));
            cbr.SetAttribute("Interval", TimeValue(period));
            cbr.SetAttribute("PacketSize", UintegerValue(kWire - kPpp - kIpUdp));
            cbr.Install(sources.Get(i)).Start(NanoSeconds(period.GetNanoSeconds() * i / c.flows));
        }
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    uint64_t hops = 0;
    for (const auto& device : devices)
    {
        hops += device->GetQueue()->GetTotalReceivedPackets();
    }
    const QueueDisc::Stats& stats = disc->GetStats();
    // A build of ns-3 without logging registers no log component.
    const bool logging = !LogComponent::GetComponentList()->empty();
    std::printf("{\"hops\":%" PRIu64 ",\"arrivals\":%u,\"drops\":%u,\"events\":%" PRIu64 ",\"logging\":%s}\n",
                hops,
                stats.nTotalReceivedPackets,
                stats.nTotalDroppedPackets,
                Simulator::GetEventCount(),
                logging ? "true" : "false");
    Simulator::Destroy();
    return 0;
}
