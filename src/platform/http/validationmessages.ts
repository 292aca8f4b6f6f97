/** Validation messages that follow the name of the field: `body.to: is required` (docs/specification/http.md#errors). */
import type { z } from 'zod';

type Fault = z.core.$ZodRawIssue;

/** Returns a message for common issues, or `undefined` to use zod's. A message set in a schema takes precedence. */
export function validationMessage(fault: Fault): string | undefined {
  switch (fault.code) {
    case 'invalid_type':
      return fault.input === undefined ? 'is required' : `must be ${withArticle(fault.expected)}`;
    case 'invalid_value':
      return fault.input === undefined ? 'is required' : `must be ${joinChoices(fault.values.map(shown))}`;
    case 'invalid_union':
      return fault.input === undefined ? 'is required' : unionMessage(fault.errors);
    case 'too_small':
      if (fault.minimum === 1 && hasLength(fault.origin)) return 'must not be empty';
      return `must be at least ${bound(fault.minimum, fault.origin)}`;
    case 'too_big':
      return `must be at most ${bound(fault.maximum, fault.origin)}`;
    case 'invalid_format':
      return fault.format === 'uuid' || fault.format === 'guid' ? 'must be a UUID' : undefined;
    default:
      return undefined;
  }
}

/** Reports the issue of the branch whose type matches. If no branch matches, lists all types. */
function unionMessage(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const firstIssues = branches.flatMap((branch) => branch.slice(0, 1));
  const matching = firstIssues.find((fault) => fault.code !== 'invalid_type' || fault.path.length > 0);
  if (matching) return matching.path.length > 0 ? `${matching.path.join('.')}: ${matching.message}` : matching.message;
  const types = firstIssues.flatMap((fault) => (fault.code === 'invalid_type' ? [withArticle(fault.expected)] : []));
  return types.length > 0 ? `must be ${joinChoices(types)}` : undefined;
}

const withArticle = (type: string): string => {
  const name = { int: 'integer', record: 'object', tuple: 'array' }[type] ?? type;
  return name === 'null' || name === 'undefined' ? name : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
};

const shown = (value: unknown): string => (typeof value === 'string' ? value : String(value));

function joinChoices(choices: readonly string[]): string {
  const unique = [...new Set(choices)];
  return unique.length < 2 ? unique.join('') : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}

const hasLength = (origin: string): boolean => origin === 'string' || origin === 'array';

function bound(limit: number | bigint, origin: string): string {
  const one = Number(limit) === 1;
  if (origin === 'string') return `${limit} ${one ? 'character' : 'characters'} long`;
  return origin === 'array' ? `${limit} ${one ? 'entry' : 'entries'} long` : String(limit);
}
