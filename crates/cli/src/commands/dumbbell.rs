//! `sojourn dumbbell`: its options and their help follow from the declarations of the scenario's parameters.

use super::run::make_whole;
use crate::args::MakeArgs;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::show;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use sojourn_run::needs::Needs;
use sojourn_scenario::oneline::{Dumbbell, OPTIONS, dumbbell as read_dumbbell, parameter};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::Study;
use std::path::PathBuf;

/// What is asked of it.
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
                "Queue of the bottleneck, such as 'codel target=5ms'. Repeat it to compare queues",
            ))
            .arg(
                several("flow")
                    .value_name("FLOW")
                    .required(true)
                    .help("Flows, such as '4*reno' or 'cbr 2Mbps'. Repeat it for more flows"),
            );
        for (option, path) in OPTIONS {
            let name = option.trim_start_matches('-');
            let mut arg = Arg::new(name).long(name).allow_hyphen_values(true);
            arg = match parameter(option) {
                None => arg.help(DIALECT_HELP).value_name("DIALECT"),
                Some(info) => {
                    let value = info.kind().unit_text();
                    let default = match info.default {
                        // A source that says nothing of a default says that there is none.
                        "none" if info.source != "Sojourn's choice" => info.source,
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
                    .help("Use no random starts and phases, and make only one run"),
            )
            .arg(several("set").value_name("PATH=VALUE").help(
                "Set a value of the scenario, such as topology.rate=2Mbps. Repeat it for more values",
            ))
            .arg(
                Arg::new("out")
                    .long("out")
                    .value_name("DIR")
                    .value_parser(clap::value_parser!(PathBuf))
                    .help("Keep the results in this directory"),
            );
        // The comment on those arguments is not what the command does.
        MakeArgs::augment_args(command)
            .about("Compare queues at one bottleneck, without a file")
            .after_help(EXAMPLES)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        DumbbellArgs::augment_args(command)
    }
}

const EXAMPLES: &str = "Examples:
  sojourn dumbbell --queue codel --queue pie --queue fq_codel --flow '4*cubic'
  sojourn dumbbell --rate 20Mbps --rtt 50ms --queue 'codel target=10ms' --flow '4*reno'
  sojourn dumbbell --queue fq_codel --flow '2*bbr' --flow 'cbr 2Mbps' --out results/mine";

const DIALECT_HELP: &str = "Default dialect of every component, such as ns2 or linux. A component's own dialect takes precedence";

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

impl Execute for DumbbellArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        dumbbell(self)
    }
}

/// Refuses several queues in one option: `codel,pie`.
fn refuse_lists(queues: &[String]) -> Result<(), LabError> {
    let known = |name: &str| sojourn_queue::registry::find(name).is_some();
    let list =
        |text: &&String| text.contains(',') && text.split(',').all(|name| known(name.trim()));
    let Some(list) = queues.iter().find(list) else {
        return Ok(());
    };
    let each: Vec<&str> = list.split(',').map(str::trim).collect();
    Err(
        LabError::new(LabErrorKind::BadValue, "one option takes one queue")
            .in_file(&format!("--queue {}", sojourn_report::shell_word(list)))
            .remedy(format!("repeat it: --queue {}", each.join(" --queue "))),
    )
}

fn dumbbell(args: &DumbbellArgs) -> Result<(), Failure> {
    let mut given = args.dumbbell.clone();
    refuse_lists(&given.queues)?;
    if let Some(memory) = &args.make.limit_memory {
        given.sets.push(format!("limits.memory={memory}"));
    }
    let (base, queues, limits) = read_dumbbell(&given, &|scenario, limits| {
        Needs::of_allowed(scenario, limits).map(drop)
    })?;
    let mut study = Study::comparison(&base, &queues);
    study.limits = limits;
    if args.make.dry_run {
        return show::needs(&study.needs()?, args.make.format, "");
    }
    let mut words = Words::new("dumbbell");
    for (option, value) in OPTIONS
        .iter()
        .map(|(option, _)| *option)
        .zip(given.values())
    {
        words = words.option(option, value);
    }
    let mut words = words
        .options("--queue", &given.queues)
        .options("--flow", &given.flows)
        .options("--set", &given.sets);
    if given.deterministic {
        words = words.word("--deterministic");
    }
    let command = words.option_path("--out", args.out.as_deref()).text();
    make_whole(&study, args.out.as_deref(), command, &args.make)
}
