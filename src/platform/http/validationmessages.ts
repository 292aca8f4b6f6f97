/** What is wrong with a field, in words that follow its name: `body.to: is required` (docs/specification/http.md#errors). */
import type { z } from 'zod';

type Fault = z.core.$ZodRawIssue;

/** Words of our own for the common faults; undefined leaves a fault to zod's. What a schema says itself goes before. */
export function wordFault(fault: Fault): string | undefined {
  switch (fault.code) {
    case 'invalid_type':
      return fault.input === undefined ? 'is required' : `must be ${named(fault.expected)}`;
    case 'invalid_value':
      return fault.input === undefined ? 'is required' : `must be ${listed(fault.values.map(shown))}`;
    case 'invalid_union':
      return fault.input === undefined ? 'is required' : wordUnion(fault.errors);
    case 'too_small':
      if (fault.minimum === 1 && counts(fault.origin)) return 'must not be empty';
      return `must be at least ${bound(fault.minimum, fault.origin)}`;
    case 'too_big':
      return `must be at most ${bound(fault.maximum, fault.origin)}`;
    case 'invalid_format':
      return fault.format === 'uuid' ? 'must be a UUID' : undefined;
    default:
      return undefined;
  }
}

/** The shape that was meant is the one whose type fits: its fault is told. Where none fits, all types are. */
function wordUnion(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const firsts = branches.flatMap((branch) => branch.slice(0, 1));
  const meant = firsts.find((fault) => fault.code !== 'invalid_type' || fault.path.length > 0);
  if (meant) return meant.path.length > 0 ? `${meant.path.join('.')}: ${meant.message}` : meant.message;
  const types = firsts.flatMap((fault) => (fault.code === 'invalid_type' ? [named(fault.expected)] : []));
  return types.length > 0 ? `must be ${listed(types)}` : undefined;
}

const named = (type: string): string => {
  const name = { int: 'integer', record: 'object', tuple: 'array' }[type] ?? type;
  return name === 'null' || name === 'undefined' ? name : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
};

const shown = (value: unknown): string => (typeof value === 'string' ? value : String(value));

function listed(choices: readonly string[]): string {
  const unique = [...new Set(choices)];
  return unique.length < 2 ? unique.join('') : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}

const counts = (origin: string): boolean => origin === 'string' || origin === 'array';

function bound(limit: number | bigint, origin: string): string {
  const one = Number(limit) === 1;
  if (origin === 'string') return `${limit} ${one ? 'character' : 'characters'} long`;
  return origin === 'array' ? `${limit} ${one ? 'entry' : 'entries'} long` : String(limit);
}
