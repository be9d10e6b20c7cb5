// What the blocks of the pages leave to their reader: a client of the page's database, and the end of workers.
import { connect, Worker } from "@weirmq/client";

export const weir = await connect<Record<string, any>>(process.env.WEIR_DSN!);

// A reader's worker runs until it is told to stop.
const run = Worker.prototype.run;
Worker.prototype.run = async function (this: Worker<any>) {
  const running = run.call(this);
  while (!(await weir.stats(this["at"].queue)).every(({ waiting, claimed }) => waiting + claimed === 0)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await this.stop();
  await running;
};
