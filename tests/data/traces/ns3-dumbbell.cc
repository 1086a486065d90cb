// Two senders, two routers, two receivers: a TCP NewReno bulk transfer and a UDP on/off source over a bottleneck with a short
// queue. Writes an ASCII trace of every device, and as CSV what ns-3's own FlowMonitor and packet sinks count.
//
// g++ -std=c++17 ns3-dumbbell.cc -o ns3-dumbbell $(pkg-config --cflags --libs ns3-point-to-point ns3-internet ns3-applications ns3-flow-monitor ns3-traffic-control)
// ./ns3-dumbbell > ns3-dumbbell.csv; gzip -9 ns3-dumbbell.tr

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iomanip>
#include <iostream>

using namespace ns3;

int main()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    NodeContainer nodes;
    nodes.Create(6);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    access.SetChannelAttribute("Delay", StringValue("2ms"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("1Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("20ms"));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("8p"));
    // The device drops what its queue has no room for, in place of holding back the layer above.
    bottleneck.DisableFlowControl();

    InternetStackHelper internet;
    internet.Install(nodes);
    // 0, 1 - 2 - 3 - 4, 5
    NetDeviceContainer devices[5] = {access.Install(nodes.Get(0), nodes.Get(2)),
                                     access.Install(nodes.Get(1), nodes.Get(2)),
                                     bottleneck.Install(nodes.Get(2), nodes.Get(3)),
                                     access.Install(nodes.Get(3), nodes.Get(4)),
                                     access.Install(nodes.Get(3), nodes.Get(5))};
    Ipv4AddressHelper address;
    Ipv4InterfaceContainer interfaces[5];
    for (int i = 0; i < 5; ++i)
    {
        std::string base = "10.1." + std::to_string(i + 1) + ".0";
        address.SetBase(base.c_str(), "255.255.255.0");
        interfaces[i] = address.Assign(devices[i]);
    }
    // The devices' queues alone: no queue disciplines above them. The bottleneck has got none, for want of flow control.
    TrafficControlHelper control;
    for (int i : {0, 1, 3, 4})
    {
        control.Uninstall(devices[i]);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    BulkSendHelper bulk("ns3::TcpSocketFactory",
                        InetSocketAddress(interfaces[3].GetAddress(1), 5001));
    bulk.SetAttribute("MaxBytes", UintegerValue(60000));
    bulk.SetAttribute("SendSize", UintegerValue(1000));
    bulk.Install(nodes.Get(0)).Start(Seconds(0.1));
    PacketSinkHelper tcpSink("ns3::TcpSocketFactory",
                             InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer tcp = tcpSink.Install(nodes.Get(4));

    OnOffHelper onoff("ns3::UdpSocketFactory",
                      InetSocketAddress(interfaces[4].GetAddress(1), 5002));
    onoff.SetConstantRate(DataRate("600kbps"), 500);
    ApplicationContainer udpSource = onoff.Install(nodes.Get(1));
    udpSource.Start(Seconds(0.2));
    udpSource.Stop(Seconds(0.7));
    PacketSinkHelper udpSink("ns3::UdpSocketFactory",
                             InetSocketAddress(Ipv4Address::GetAny(), 5002));
    ApplicationContainer udp = udpSink.Install(nodes.Get(5));

    AsciiTraceHelper ascii;
    Ptr<OutputStreamWrapper> stream = ascii.CreateFileStream("ns3-dumbbell.tr");
    *stream->GetStream() << std::setprecision(12);
    access.EnableAsciiAll(stream);

    FlowMonitorHelper monitors;
    Ptr<FlowMonitor> monitor = monitors.InstallAll();
    Simulator::Stop(Seconds(5));
    Simulator::Run();
    monitor->CheckForLostPackets();
    Ptr<Ipv4FlowClassifier> classifier =
        DynamicCast<Ipv4FlowClassifier>(monitors.GetClassifier());
    std::cout << "# ns-3.37, FlowMonitor and PacketSink of ns3-dumbbell.cc\n"
              << "source,destination,protocol,sent_packets,sent_bytes,received_packets,received_bytes,dropped_packets,"
                 "delay_sum_ns,jitter_sum_ns,sink_bytes\n";
    for (const auto& [id, stats] : monitor->GetFlowStats())
    {
        Ipv4FlowClassifier::FiveTuple flow = classifier->FindFlow(id);
        uint64_t sink = 0;
        if (flow.destinationPort == 5001)
        {
            sink = DynamicCast<PacketSink>(tcp.Get(0))->GetTotalRx();
        }
        else if (flow.destinationPort == 5002)
        {
            sink = DynamicCast<PacketSink>(udp.Get(0))->GetTotalRx();
        }
        uint64_t dropped = 0;
        for (uint32_t packets : stats.packetsDropped)
        {
            dropped += packets;
        }
        std::cout << flow.sourceAddress << ":" << flow.sourcePort << "," << flow.destinationAddress
                  << ":" << flow.destinationPort << "," << unsigned(flow.protocol) << ","
                  << stats.txPackets << "," << stats.txBytes << "," << stats.rxPackets << ","
                  << stats.rxBytes << "," << dropped << "," << stats.delaySum.GetNanoSeconds()
                  << "," << stats.jitterSum.GetNanoSeconds() << "," << sink << "\n";
    }
    Simulator::Destroy();
    return 0;
}
