/** One gate for each user: the requests of a user wait for each other, and for no others. */
import { Problem, problems } from '../problem.ts';
import { createGate, type Gate, type GateOptions } from './gate.ts';

export interface Gates {
  /** As `Gate.enter`, but a user with too many waiting requests gets 429 `rate_limited`, because the server is not overloaded. */
  enter(userId: string): Promise<() => void>;
  /** Does the work inside. */
  run<Result>(userId: string, work: () => Promise<Result>): Promise<Result>;
}

interface Open {
  readonly gate: Gate;
  /** Inside or waiting. Without callers, the gate is dropped. */
  callers: number;
}

export function createGates(options: GateOptions): Gates {
  const gates = new Map<string, Open>();
  const self: Gates = {
    enter: async (userId) => {
      const own = gates.get(userId) ?? { gate: createGate(options), callers: 0 };
      gates.set(userId, own);
      own.callers += 1;
      let isCounted = true;
      const forget = () => {
        if (isCounted) own.callers -= 1;
        isCounted = false;
        if (own.callers === 0 && gates.get(userId) === own) gates.delete(userId);
      };
      try {
        const leave = await own.gate.enter();
        return () => {
          leave();
          forget();
        };
      } catch (error) {
        forget();
        const isFull = error instanceof Problem && error.code === 'overloaded';
        throw isFull ? problems.rate_limited({ retryAfterS: 1 }) : error;
      }
    },
    run: async (userId, work) => {
      const leave = await self.enter(userId);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
  return self;
}
