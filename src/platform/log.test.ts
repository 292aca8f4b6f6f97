import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';

function pretty(write: (log: ReturnType<typeof createLog>) => void): readonly string[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(...line.trimEnd().split('\n')) };
  write(createLog({ level: 'info', format: 'pretty', service: 'media', secrets: ['very-secret-value'], destination }));
  return lines;
}

describe('LOG_FORMAT=pretty', () => {
  it('contains the time, the level, the service, the message and the fields', () => {
    const [line] = pretty((log) => log.warn({ key: 'value', list: [1] }, 'something happened'));
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}warn {3}media {2}something happened {2}key=value {2}list=\[1\]$/);
  });

  it('contains an error with its causes below the message', () => {
    const error = new Error('outer', { cause: new Error('inner') });
    const [head, ...stack] = pretty((log) => log.error({ err: error }, 'it failed'));
    expect(head).toMatch(/error {2}media {2}it failed$/);
    expect(stack[0]).toBe('    Error: outer');
    expect(stack).toContain('    caused by Error: inner');
  });

  it('hides the same secrets as JSON lines', () => {
    const [line] = pretty((log) =>
      log.info({ url: 'https://u:p4ss@h/x?token=t1', key: 'very-secret-value' }, 'Bearer abc'),
    );
    for (const secret of ['p4ss', 't1', 'very-secret-value', 'abc']) expect(line).not.toContain(secret);
  });

  it('shows control characters instead of sending them to the terminal', () => {
    const [line] = pretty((log) => log.info({ key: '\u001b[2J\u009b' }, 'x\u0007'));
    expect(line).toContain('x\\x07  key=\\x1b[2J\\x9b');
  });

  it('shows a field with line breaks in one line', () => {
    const lines = pretty((log) => log.info({ reason: 'no\n04:07:13  info   auth  all is well' }, 'it failed'));
    expect(lines).toEqual([expect.stringMatching(/ {2}it failed {2}reason=no\\n04:07:13 {2}info/)]);
  });

  it('preserves text with line breaks and quotes', () => {
    expect(pretty((log) => log.info('a "quoted"\nmessage')).join('\n')).toContain('a "quoted"\nmessage');
  });
});
