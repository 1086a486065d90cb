//! What the command line looks like.

use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use sojourn_scenario::oneline::{Dumbbell, OPTIONS, parameter};
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

/// Simulate queues packet by packet and compare queue management, scheduling and congestion control.
#[derive(Parser, Debug)]
#[command(name = "sojourn", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run the scenario of a file and print what came out.
    Run(RunArgs),
    /// Compare queues at one bottleneck, without a file.
    Dumbbell(Box<DumbbellArgs>),
    /// Run a study: its points, its replications, its tables.
    Study(StudyArgs),
    /// Run the results of a directory again, and say whether the bits are the same.
    Rerun(RerunArgs),
    /// Write the report of a result directory: tables, figures, one HTML file.
    Report(ReportArgs),
    /// List what scenarios can name: queues, flows, sources, congestion controls.
    List(ListArgs),
    /// Show one algorithm: what it does, its parameters per dialect, their sources.
    Show(ShowArgs),
    /// Write a commented study to start from.
    Init(InitArgs),
    /// Print the JSON Schema of scenario and study files, with which editors complete and check them.
    Schema(SchemaArgs),
    /// Write the reference pages, generated from the declarations of all parameters.
    Docs(DocsArgs),
    /// Feed a recorded arrival process to a queue and print what it decides on every packet.
    Replay(ReplayArgs),
    /// Write conformance vectors of queue disciplines, or check an implementation against them.
    #[command(subcommand)]
    Vectors(VectorsCommand),
    /// Compare the disciplines with what ns-2, ns-3 and Linux measured.
    Validate(ValidateArgs),
    /// Read packet traces.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Print the line of Linux's tc that configures the same queue.
    Tc(TcArgs),
    /// Measure the cost of a packet-hop.
    Bench(BenchArgs),
}

#[derive(Args, Debug)]
pub(crate) struct TcArgs {
    /// The queue, such as 'fq_codel target=5ms'; in dialect linux unless it names another.
    pub(crate) queue: String,
    /// Network device.
    #[arg(long, default_value = "DEV")]
    pub(crate) dev: String,
}

#[derive(Subcommand, Debug)]
pub(crate) enum TraceCommand {
    /// Analyse a trace of ns-2, an ASCII trace of ns-3, or a capture (pcap, pcapng), plain or gzip: packets, sizes, throughput,
    /// delay, jitter, queueing, round trips, utilization, over time.
    Analyse(AnalyseArgs),
}

#[derive(Args, Debug)]
pub(crate) struct AnalyseArgs {
    /// The trace; - for standard input.
    pub(crate) file: PathBuf,
    /// Format of the trace: ns2, ns3, pcap, pcapng; found by its content unless given.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) trace_format: Option<String>,
    /// A second capture of the same traffic, where it arrives: gives one-way delay and loss. May be - for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) receiver: Option<PathBuf>,
    /// Of a capture with tunnels (GRE, VXLAN, Geneve, IP in IP): analyse the inner packets, or the outer ones.
    #[arg(long, value_name = "inner|outer", default_value = "inner")]
    pub(crate) tunnels: String,
    /// Skip what cannot be read, and say how much that was, instead of stopping there.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Length of a step of the time series.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) step: String,
    /// Count from this time of the trace on, such as the end of a warm-up.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Read up to this time of the trace.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Rate of a link, for its utilization, such as 0-1=10Mbps; may be repeated.
    #[arg(long = "rate", value_name = "LINK=RATE")]
    pub(crate) rates: Vec<String>,
    /// A packet without an event for this long counts as lost.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) horizon: String,
    /// Print this table, such as flows, series or distributions; may be repeated. All but the long ones unless given.
    #[arg(long = "table", value_name = "NAME")]
    pub(crate) tables: Vec<String>,
    /// Write every table as CSV and Parquet, and a report with figures, to this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Peers to compare with: linux, ns2, ns3; all unless given.
    #[arg(long = "peer", value_name = "NAME")]
    pub(crate) peers: Vec<String>,
    /// Disciplines to compare; all unless given.
    #[arg(long = "queue", value_name = "NAME")]
    pub(crate) queues: Vec<String>,
    /// Runs per row where a random draw decides.
    #[arg(long, default_value_t = sojourn_study::validate::SEEDS, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: u64,
    /// Rows at a time; one per core unless given. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Show every figure, not only those outside.
    #[arg(long)]
    pub(crate) all: bool,
    /// Follow single flows of Linux through window, threshold and round trip instead: say where they part from ours first, and write a figure of
    /// each, one over the other, to this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["peers", "queues", "all"])]
    pub(crate) trajectories: Option<PathBuf>,
    /// How to print them.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Subcommand, Debug)]
pub(crate) enum VectorsCommand {
    /// Write vectors: arrivals, random draws, expected decisions and states, a text file each.
    Write(VectorsWriteArgs),
    /// Feed vectors to an implementation over standard input and explain the first answer that differs.
    Check(VectorsCheckArgs),
}

#[derive(Args, Debug)]
pub(crate) struct VectorsWriteArgs {
    /// A vector (codel-linux), a discipline in all its dialects (codel) or a specification ('codel target=20ms'); all
    /// unless given.
    #[arg(long = "queue", value_name = "NAME")]
    pub(crate) queues: Vec<String>,
    /// Directory to write to; - for standard output.
    #[arg(long, default_value = "vectors")]
    pub(crate) out: PathBuf,
    /// Seed of the arrivals and of the draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Args, Debug)]
pub(crate) struct VectorsCheckArgs {
    /// The implementation, run once per vector by the shell.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) exec: String,
    /// As for write: which of the catalogue's vectors to check against; all unless given.
    #[arg(long = "queue", value_name = "NAME", conflicts_with = "files")]
    pub(crate) queues: Vec<String>,
    /// As for write: seed of the catalogue's vectors.
    #[arg(long, default_value_t = 1, conflicts_with = "files")]
    pub(crate) seed: u64,
    /// Seconds that the implementation may take for one vector.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// Vectors as files, or directories of them, instead of the catalogue's.
    pub(crate) files: Vec<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Aligned columns.
    Table,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListWhat {
    /// Queue disciplines.
    Queues,
    /// Kinds of flow.
    Flows,
    /// Traffic sources.
    Sources,
    /// Congestion control algorithms.
    Congestion,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list; everything unless given.
    pub(crate) what: Option<ListWhat>,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Name of a queue, flow, source or congestion control.
    pub(crate) name: String,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// CSV file with the columns time_ns,bytes,flow,ecn, and if wanted dscp,source,destination; - for standard input.
    pub(crate) arrivals: PathBuf,
    /// The queue, such as 'codel target=5ms limit=100p'.
    #[arg(long)]
    pub(crate) queue: String,
    /// Rate of the link.
    #[arg(long)]
    pub(crate) rate: String,
    /// Default dialect; the queue's own wins.
    #[arg(long)]
    pub(crate) dialect: Option<String>,
    /// Seed of random disciplines.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write samples of backlog, internal state and the queues of schedulers to this CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) series: Option<PathBuf>,
    /// Time between samples.
    #[arg(long, default_value = "10ms", requires = "series")]
    pub(crate) step: String,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Cases to run, such as b1; the standard set unless given. `all` adds the large ones.
    #[arg(long = "case")]
    pub(crate) cases: Vec<String>,
    /// Measure every queue discipline instead, as a multiple of DropTail's cost.
    #[arg(long, conflicts_with = "cases")]
    pub(crate) queues: bool,
    /// Measure this queue in the same way, such as 'codel target=10ms'; may be given more than once.
    #[arg(long = "queue", value_name = "QUEUE", conflicts_with_all = ["cases", "queues"])]
    pub(crate) queue: Vec<String>,
    /// Rounds, interleaved; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) rounds: u64,
    /// Simulated seconds, instead of each case's own.
    #[arg(long)]
    pub(crate) seconds: Option<f64>,
    /// One JSON object per case.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail if a demanded ratio is not met.
    #[arg(long)]
    pub(crate) check: bool,
}

/// A number of threads.
fn threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 on, or leave it out for one per core".to_owned())
}

/// How results are made: options that several commands have.
#[derive(Args, Debug)]
pub(crate) struct MakeArgs {
    /// Runs at a time; one per core unless given. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Remove the results that the directory holds instead of going on from them.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Memory that the runs under way and all results may need, by an estimate [default: 4GB]. What needs more is refused.
    /// Results do not depend on it.
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit_memory: Option<String>,
    /// Print how many points, runs, flows and samples there are and how much memory they need, and make no run.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to print the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The scenario, a file in TOML.
    pub(crate) scenario: PathBuf,
    /// Replace a value, such as topology.rate=2Mbps or flows.reno.count=8; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Runs that differ only in their random draws; the scenario's run.replications unless given.
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<String>,
    /// Seed of every random stream; the scenario's run.seed unless given.
    #[arg(long)]
    pub(crate) seed: Option<String>,
    /// Keep the results in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run the first replication alone and write every packet's events. The format is ns2 (times in microseconds, as ns-2 writes
    /// them), ns2-exact (in picoseconds), pcapng or parquet; the file may be - for standard output, or a pipe: the results, which are
    /// those of a run without a trace, then go to standard error.
    #[arg(long, num_args = 2, value_names = ["FORMAT", "FILE"], conflicts_with_all = ["out", "threads", "fresh", "replications"])]
    pub(crate) trace: Option<Vec<String>>,
    /// Write the events of this link direction alone, such as left-right; may be given several times.
    #[arg(long = "trace-link", value_name = "NAME", requires = "trace")]
    pub(crate) trace_links: Vec<String>,
    #[command(flatten)]
    pub(crate) make: MakeArgs,
}

#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// A study by name, as in ./studies/NAME/study.toml or one that Sojourn brings along, or a file in TOML.
    pub(crate) study: OsString,
    /// Replace a value in every point, such as run.replications=30; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Run these experiments only.
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Directory of the results; results/NAME unless given. Runs that it holds are not made again.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Make one part of the runs only, such as 1/4, beside other processes that make the others.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    #[command(flatten)]
    pub(crate) make: MakeArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RerunArgs {
    /// The result directory; its manifest says everything that ran.
    pub(crate) dir: PathBuf,
    /// Keep the new results in this directory. Runs that it holds are not made again.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Runs at a time; one per core unless given. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The result directory.
    pub(crate) dir: PathBuf,
    /// Draw the figures as files, too: svg, png, pdf, separated by commas. Needs the Python package.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',')]
    pub(crate) images: Vec<ImageFormat>,
    /// How to print the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

/// What figures can be drawn as.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImageFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
    /// Portable Document Format.
    Pdf,
}

impl ImageFormat {
    /// The name, which is also the suffix of files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ImageFormat::Svg => "svg",
            ImageFormat::Png => "png",
            ImageFormat::Pdf => "pdf",
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// The file to write; - for standard output.
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SchemaWhat {
    /// Scenario files, which `sojourn run` reads.
    Scenario,
    /// Study files, which `sojourn study` reads.
    Study,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArgs {
    /// Which files; a study may have everything that a scenario has.
    #[arg(value_enum, default_value = "study")]
    pub(crate) what: SchemaWhat,
}

#[derive(Args, Debug)]
pub(crate) struct DocsArgs {
    /// Directory to write to: docs, in the source of Sojourn.
    pub(crate) dir: PathBuf,
}

/// `sojourn dumbbell`: its options and their help follow from the declarations of the scenario's parameters.
#[derive(Debug)]
pub(crate) struct DumbbellArgs {
    pub(crate) dumbbell: Dumbbell,
    pub(crate) out: Option<PathBuf>,
    pub(crate) make: MakeArgs,
}

impl Args for DumbbellArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let several = |id: &'static str| Arg::new(id).long(id).action(ArgAction::Append);
        let mut command = command
            .arg(several("queue").value_name("QUEUE").help(
                "A queue at the bottleneck, such as 'codel target=5ms'; repeated, the queues are compared",
            ))
            .arg(several("flow").value_name("FLOW").required(true).help(
                "Flows, such as '4*reno' or 'cbr 2Mbps'; may be repeated",
            ));
        for (option, path) in OPTIONS {
            let name = option.trim_start_matches('-');
            let mut arg = Arg::new(name).long(name).allow_hyphen_values(true);
            arg = match parameter(option) {
                None => arg.help(DIALECT_HELP).value_name("DIALECT"),
                Some(info) => {
                    let value = (info.kind)().unit_text();
                    let default = match info.default {
                        "none" => info.source,
                        default => default,
                    };
                    arg.value_name(value_name(path, &value)).help(format!(
                        "{} [default: {default}]",
                        info.doc.trim_end_matches('.')
                    ))
                }
            };
            command = command.arg(arg);
        }
        command = command
            .arg(
                Arg::new("deterministic")
                    .long("deterministic")
                    .action(ArgAction::SetTrue)
                    .help("Nothing is random, and one run is made"),
            )
            .arg(several("set").value_name("PATH=VALUE").help(
                "Replace a value of the scenario, such as topology.rate=2Mbps; may be repeated",
            ))
            .arg(
                Arg::new("out")
                    .long("out")
                    .value_name("DIR")
                    .value_parser(clap::value_parser!(PathBuf))
                    .help("Keep the results in this directory"),
            );
        MakeArgs::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        DumbbellArgs::augment_args(command)
    }
}

const DIALECT_HELP: &str =
    "Default dialect of every component, such as ns2 or linux; a component's own wins";

/// A word for the value of an option: the kind of quantity, in capitals.
fn value_name(path: &str, unit_text: &str) -> &'static str {
    match unit_text.split([',', ' ', ';']).next() {
        Some("duration") => "TIME",
        Some("rate") => "RATE",
        Some("limit") => "LIMIT",
        Some("whole") => "N",
        _ if path.ends_with("queue") => "QUEUE",
        _ => "VALUE",
    }
}

impl FromArgMatches for DumbbellArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let several = |id: &str| -> Vec<String> {
            matches
                .get_many::<String>(id)
                .map(|all| all.cloned().collect())
                .unwrap_or_default()
        };
        let mut dumbbell = Dumbbell {
            queues: several("queue"),
            flows: several("flow"),
            sets: several("set"),
            deterministic: matches.get_flag("deterministic"),
            ..Dumbbell::default()
        };
        for (option, _) in OPTIONS {
            let id = option.trim_start_matches('-');
            if let Some(value) = matches.get_one::<String>(id) {
                dumbbell.give(option, value);
            }
        }
        Ok(DumbbellArgs {
            dumbbell,
            out: matches.get_one::<PathBuf>("out").cloned(),
            make: MakeArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = DumbbellArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
