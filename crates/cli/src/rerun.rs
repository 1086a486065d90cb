//! `sojourn rerun`.

use crate::args::RerunArgs;
use crate::command::Words;
use crate::failure::Failure;
use crate::interrupt;
use crate::make::{show, style};
use crate::output::emit;
use crate::run::stoppable;
use indicatif::ProgressBar;
use sojourn_study::rerun::rerun as again;
use sojourn_study::study::{Options, Progress};

pub(crate) fn rerun(args: &RerunArgs) -> Result<(), Failure> {
    let bar = ProgressBar::new(0).with_style(style());
    let mut progress = |news: &Progress| show(&bar, news);
    let command = Words::new("rerun")
        .path(&args.dir)
        .option_path("--out", args.out.as_deref())
        .text();
    let options = Options {
        command,
        threads: args.threads,
        progress: Some(&mut progress),
        cancel: Some(interrupt::flag()),
        ..Options::default()
    };
    interrupt::keeps_in(args.out.as_deref());
    let compared = again(&args.dir, stoppable, args.out.as_deref(), options);
    bar.finish_and_clear();
    let compared = compared?;
    emit(&(compared.lines(&args.dir).join("\n") + "\n"))?;
    match compared.is_same() {
        true => Ok(()),
        false => Err(Failure::Differs),
    }
}
