//! `sojourn replay`.

use crate::Failure;
use crate::args::ReplayArgs;
use sojourn_lab::replay::{read_arrivals, replay as run, write_decisions};
use sojourn_lab::{LabError, LabErrorKind};
use sojourn_units::{Rate, Spec};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};

pub(crate) fn replay(args: &ReplayArgs) -> Result<(), Failure> {
    let queue: Spec = args
        .queue
        .parse()
        .map_err(|error: sojourn_units::SpecError| {
            option("--queue", &args.queue, error.to_string())
        })?;
    let rate: Rate = args
        .rate
        .parse()
        .map_err(|error: sojourn_units::UnitError| {
            option("--rate", &args.rate, error.to_string())
        })?;
    if rate.as_bps() == 0 {
        return Err(option(
            "--rate",
            &args.rate,
            "a link needs a rate above zero".to_owned(),
        )
        .into());
    }
    let file = args.arrivals.display().to_string();
    let input: Box<dyn Read> = if file == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        let opened = File::open(&args.arrivals)
            .map_err(|error| LabError::io(&args.arrivals, "read the arrivals", &error))?;
        Box::new(BufReader::new(opened))
    };
    let arrivals = read_arrivals(input, &file)?;
    let decisions = run(&arrivals, &queue, rate, args.dialect.as_deref(), args.seed)
        .map_err(|error| error.in_file("--queue"))?;
    let output = BufWriter::new(std::io::stdout().lock());
    write_decisions(output, &arrivals, &decisions).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::from(error),
        other => Failure::from(std::io::Error::other(format!("{other:?}"))),
    })
}

fn option(name: &str, given: &str, problem: String) -> LabError {
    LabError::new(LabErrorKind::BadValue, problem).in_file(&format!("{name} '{given}'"))
}
