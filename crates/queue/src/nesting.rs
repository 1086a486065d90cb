//! How a scheduler builds the queues inside it. It knows no other scheduler: the registry gives it what builds them.

use crate::child::Child;
use crate::disciplines::aqms::AnyAqm;
use crate::entry::{BuildContext, SpecError, contradiction};
use sojourn_units::{Spec, Specs};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A specification that was read and checked, and builds what it describes any number of times.
pub trait Inner: fmt::Debug + Send + Sync {
    /// It describes a scheduler, not an AQM.
    fn is_scheduler(&self) -> bool;

    /// The AQM that it describes.
    ///
    /// # Errors
    /// If parameters contradict each other, or it describes a scheduler.
    fn aqm(&self, cx: &BuildContext) -> Result<AnyAqm, SpecError>;

    /// A queue under the AQM or scheduler that it describes.
    ///
    /// # Errors
    /// If parameters contradict each other.
    fn child(&self, cx: &BuildContext) -> Result<Child, SpecError>;
}

/// What a scheduler is built with: a [`BuildContext`], and what builds the queues inside.
#[derive(Clone, Debug)]
pub struct NestingContext {
    cx: BuildContext,
    /// The specifications that [`Entry::inside`](crate::entry::Entry::inside) named.
    inside: Vec<(Spec, Arc<dyn Inner>)>,
}

impl Deref for NestingContext {
    type Target = BuildContext;

    fn deref(&self) -> &BuildContext {
        &self.cx
    }
}

impl NestingContext {
    /// A context that builds what is inside by these prepared specifications.
    pub fn new(cx: BuildContext, inside: Vec<(Spec, Arc<dyn Inner>)>) -> NestingContext {
        NestingContext { cx, inside }
    }

    /// What builds a specification inside.
    ///
    /// # Panics
    /// If [`Entry::inside`](crate::entry::Entry::inside) of the scheduler did not name it.
    pub fn inner(&self, spec: &Spec) -> &Arc<dyn Inner> {
        let found = self.inside.iter().find(|(own, _)| own == spec);
        let (_, inner) = found.expect("Entry::inside names every specification inside");
        inner
    }

    /// A queue in a shaper, for the queue whose surroundings are `cx`.
    ///
    /// # Errors
    /// As [`Inner::child`], and if it is a shaper too: the outer one would not know when the inner one is ready.
    pub fn child_in_shaper(
        &self,
        spec: &Spec,
        around: &str,
        cx: &BuildContext,
    ) -> Result<Child, SpecError> {
        let child = self.inner(spec).child(cx)?;
        match child.shapes() {
            false => Ok(child),
            true => Err(contradiction(
                around,
                format!(
                    "each=({}) is a shaper too, and a shaper cannot hold another one; give the rates to one of them",
                    spec.name
                ),
            )),
        }
    }
}

/// Refuses more specifications in `each` than `around` has queues: the last ones would be of no queue.
///
/// # Errors
/// If there are more.
pub fn refuse_surplus(specs: &Specs, around: &str, queues: usize) -> Result<(), SpecError> {
    let given = specs.all().len();
    match given > queues.max(1) {
        false => Ok(()),
        true => Err(contradiction(
            around,
            format!(
                "each lists {given} queues, and the number of its queues is {queues}; leave out the last {}",
                given - queues.max(1)
            ),
        )),
    }
}

/// What manages each queue of a scheduler, its parameter `each`, and what that may need to know.
pub struct Each {
    /// Those of the first classes; the last is that of all further classes.
    inside: Vec<Nested>,
    cx: BuildContext,
    /// Schedulers are among them.
    scheduled: bool,
}

struct Nested {
    /// The name as it was given, for messages.
    name: String,
    inner: Arc<dyn Inner>,
}

impl Each {
    /// An AQM for each queue, all of one name.
    ///
    /// # Errors
    /// As [`Inner::aqm`]: now, not when the first packet comes.
    pub fn aqm(spec: &Spec, cx: &NestingContext) -> Result<Each, SpecError> {
        cx.inner(spec).aqm(cx)?;
        Each::checked(&[spec], cx, |_, _| Ok(()))
    }

    /// An AQM or a scheduler for each queue; what schedulers in different queues draw and hash is their own.
    ///
    /// # Errors
    /// As [`Inner::child`].
    pub fn any(specs: &Specs, cx: &NestingContext) -> Result<Each, SpecError> {
        Each::checked(&specs.all(), cx, |_, _| Ok(()))
    }

    /// As [`Each::any`], for a discipline that never waits for a queue which holds packets.
    ///
    /// # Errors
    /// As [`Each::any`], and if one of `specs` holds packets back.
    pub fn ready(specs: &Specs, around: &str, cx: &NestingContext) -> Result<Each, SpecError> {
        Each::checked(&specs.all(), cx, |spec, child| match child.shapes() {
            false => Ok(()),
            true => Err(contradiction(
                around,
                format!(
                    "each=({}) holds packets back, and {around} does not wait for them; put {around} inside it, or use prio",
                    spec.name
                ),
            )),
        })
    }

    /// Builds each once, so that errors show now.
    fn checked(
        specs: &[&Spec],
        cx: &NestingContext,
        check: impl Fn(&Spec, &Child) -> Result<(), SpecError>,
    ) -> Result<Each, SpecError> {
        let mut inside = Vec::new();
        for spec in specs {
            let inner = Arc::clone(cx.inner(spec));
            check(spec, &inner.child(cx)?)?;
            inside.push(Nested {
                name: spec.name.clone(),
                inner,
            });
        }
        Ok(Each {
            scheduled: inside.iter().any(|nested| nested.inner.is_scheduler()),
            inside,
            cx: BuildContext::clone(cx),
        })
    }

    /// Checks that no limit over all queues drops packets out of a scheduler inside. It may refuse arriving packets.
    ///
    /// # Errors
    /// If a scheduler is among them, and `around` `drops` packets that wait in its queues.
    pub fn keeps_its_own(&self, around: &str, drops: bool, remedy: &str) -> Result<(), SpecError> {
        let is_scheduler = |nested: &&Nested| nested.inner.is_scheduler();
        match self.inside.iter().find(is_scheduler) {
            Some(nested) if drops => Err(contradiction(
                around,
                format!(
                    "each=({}) keeps queues of its own, and the limit of {around} cannot drop the longest of them; {remedy}",
                    nested.name
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The queue of this number, which is that of the class of the same number.
    ///
    /// # Panics
    /// Not after a first one was built: what was built once can be built again.
    #[cold]
    pub fn queue(&self, number: usize) -> Child {
        self.queue_of(number, number)
    }

    /// The queue of this number, of the class (or bucket) of that number.
    ///
    /// # Panics
    /// Not after a first one was built: what was built once can be built again.
    #[cold]
    pub fn queue_of(&self, class: usize, number: usize) -> Child {
        let last = self.inside.len() - 1;
        let inner = &self.inside[class.min(last)].inner;
        let built = match self.scheduled {
            false => inner.child(&self.cx),
            true => inner.child(&self.cx.inside(number)),
        };
        built.expect("what was built once can be built again")
    }
}
