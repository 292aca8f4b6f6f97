/** The progress of a long command: a bar on a terminal, otherwise a line at intervals. */

export interface Progress {
  add(amount: number): void;
  /** Leaves the last state on the screen. */
  end(): void;
}

const barWidth = 30;
const redrawEveryMs = 100;
const lineEveryMs = 5000;

/** `total` may have any unit. A larger value counts as complete. */
export function startProgress(what: string, total: number): Progress {
  const { stdout } = process;
  const everyMs = stdout.isTTY ? redrawEveryMs : lineEveryMs;
  let done = 0;
  let shownAtMs = stdout.isTTY ? 0 : performance.now();

  function show(end: string): void {
    shownAtMs = performance.now();
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(share * barWidth);
    const bar = stdout.isTTY ? `\r${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ` : '';
    stdout.write(`${bar}${what} ${Math.floor(share * 100)} %${end}`);
  }

  return {
    add: (amount) => {
      done += amount;
      if (performance.now() - shownAtMs >= everyMs) show(stdout.isTTY ? '' : '\n');
    },
    end: () => {
      done = total;
      show('\n');
    },
  };
}
