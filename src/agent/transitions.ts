/** Explicit states: each machine declares which mode may follow which, and every change is checked against that. */

export type Transitions<Mode extends string> = Readonly<Record<Mode, readonly Mode[]>>;

/** Throws when `to` may not follow `from`: a bug in the machine, never a fault of a caller. */
export function assertTransition<Mode extends string>(
  machine: string,
  permitted: Transitions<Mode>,
  from: Mode,
  to: Mode,
): void {
  if (!permitted[from].includes(to)) throw new Error(`${machine}: ${from} cannot become ${to}`);
}
