// The page's side of the Worker: starts it, starts it again after a trap, and hands its messages on.

import type { FromWorker, ToWorker } from "./messages";
import { Refused } from "./module";

/** Milliseconds between two questions whether the Worker still answers, and after which it counts as silent. */
const ASK = 1000;
const SILENT = 4000;

export type Heard = FromWorker | { kind: "silent"; seconds: number } | { kind: "back" };

export class Client {
  private worker: Worker;
  private next = 1;
  private asked: number | undefined;
  private told = false;
  private readonly compiled: Promise<WebAssembly.Module>;
  private readonly waiting = new Map<number, { good: (answer: never) => void; bad: (error: Error) => void }>();

  constructor(private readonly take: (message: Heard) => void) {
    // The page compiles the module, not the Worker: it can begin before there is a Worker, and once is enough for all of them.
    this.compiled = WebAssembly.compileStreaming(fetch(new URL("sojourn.wasm", document.baseURI)));
    this.worker = this.start();
    this.compiled.then(
      () => {
        performance.mark("module-ready");
        setInterval(() => this.ask(), ASK);
      },
      (error: unknown) => this.take({ kind: "trapped", text: `sojourn.wasm could not be loaded: ${String(error)}` }),
    );
  }

  private start(): Worker {
    const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
    worker.onerror = (event) => this.hear({ kind: "trapped", text: event.message || "the Worker could not be loaded" });
    this.asked = undefined;
    this.told = false;
    this.compiled.then(
      (module) => worker.postMessage({ kind: "module", module } satisfies ToWorker),
      () => undefined,
    );
    return worker;
  }

  private hear(message: FromWorker): void {
    this.asked = undefined;
    if (this.told) {
      this.told = false;
      this.take({ kind: "back" });
    }
    if (message.kind === "answer") {
      const own = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.refusal) own?.bad(new Refused(message.refusal));
      else own?.good(message.answer as never);
      return;
    }
    if (message.kind === "trapped") this.restart(message.text);
    this.take(message);
  }

  /** Asks whether the Worker reads messages: one that computes without an end does not. */
  private ask(): void {
    const now = performance.now();
    if (this.asked === undefined) {
      this.asked = now;
      this.send({ kind: "ping" });
    } else if (now - this.asked > SILENT) {
      this.told = true;
      this.take({ kind: "silent", seconds: Math.round((now - this.asked) / 1000) });
    }
  }

  /** Ends the Worker, whatever it is doing, and starts another. */
  restart(why: string): void {
    this.worker.terminate();
    const lost = [...this.waiting.values()];
    this.waiting.clear();
    this.worker = this.start();
    for (const own of lost) own.bad(new Error(why));
  }

  send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  /** Asks the module something. */
  call<T>(request: object): Promise<T> {
    const id = this.next++;
    return new Promise<T>((good, bad) => {
      this.waiting.set(id, { good: good as (answer: never) => void, bad });
      this.worker.postMessage({ kind: "call", id, request } satisfies ToWorker);
    });
  }
}
