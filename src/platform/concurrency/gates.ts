/** One gate for each key, such as a user: callers with the same key wait for each other, and for no others. */
import { createGate, type Gate, type GateOptions } from './gate.ts';

export interface Gates {
  /** As `Gate.enter`. */
  enter(key: string): Promise<() => void>;
}

interface Open {
  readonly gate: Gate;
  /** Inside or waiting. Without callers, the gate is dropped. */
  callers: number;
}

export function createGates(options: GateOptions): Gates {
  const gates = new Map<string, Open>();
  return {
    enter: async (key) => {
      const own = gates.get(key) ?? { gate: createGate(options), callers: 0 };
      gates.set(key, own);
      own.callers += 1;
      let isCounted = true;
      const forget = () => {
        if (isCounted) own.callers -= 1;
        isCounted = false;
        if (own.callers === 0 && gates.get(key) === own) gates.delete(key);
      };
      try {
        const leave = await own.gate.enter();
        return () => {
          leave();
          forget();
        };
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}
