// The page's side of the Worker: starts it, starts it again after a trap, and hands its messages on.

import type { FromWorker, ToWorker } from "./messages";
import { Refused } from "./module";

export class Client {
  private worker: Worker;
  private next = 1;
  private readonly waiting = new Map<number, { good: (answer: never) => void; bad: (error: Error) => void }>();

  constructor(private readonly take: (message: FromWorker) => void) {
    this.worker = this.start();
  }

  private start(): Worker {
    const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
    worker.onerror = (event) => this.hear({ kind: "trapped", text: event.message || "the Worker could not be loaded" });
    return worker;
  }

  private hear(message: FromWorker): void {
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

  /** Ends the Worker, whatever it is doing, and starts another. */
  restart(why: string): void {
    this.worker.terminate();
    for (const own of this.waiting.values()) own.bad(new Error(why));
    this.waiting.clear();
    this.worker = this.start();
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
