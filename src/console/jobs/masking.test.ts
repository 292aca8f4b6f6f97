import { describe, expect, it } from 'vitest';
import { maskPayload } from './routes.ts';

const shown = (payload: unknown): unknown => JSON.parse(maskPayload(payload));

describe('a payload', () => {
  it('is shown without secret fields, at every depth', () => {
    const payload = {
      sendId: '1',
      accessToken: 'a',
      nested: [{ PASSWORD: 'b', ok: 1 }],
      headers: { Authorization: 'c', 'set-cookie': 'd' },
      apiKey: { id: 'e' },
    };
    expect(shown(payload)).toEqual({
      sendId: '1',
      accessToken: '(hidden)',
      nested: [{ PASSWORD: '(hidden)', ok: 1 }],
      headers: { Authorization: '(hidden)', 'set-cookie': '(hidden)' },
      apiKey: '(hidden)',
    });
  });

  it('is shown without secrets inside a JSON text', () => {
    expect(maskPayload({ body: JSON.stringify({ data: { refresh_token: 'hush', id: 7 } }) })).not.toContain('hush');
    expect(maskPayload({ body: JSON.stringify({ data: { refresh_token: 'hush', id: 7 } }) })).toContain('7');
  });

  it('shows JSON inside a text as JSON, without a second layer of quotation marks', () => {
    const data = { id: 7, note: 'b'.repeat(201) };
    expect(shown({ body: JSON.stringify({ type: 'run.ended', data }) })).toEqual({
      body: { type: 'run.ended', data: { id: 7, note: `${'b'.repeat(200)}… (201 characters)` } },
    });
    let nested: unknown = 'hush';
    for (let level = 0; level < 12; level += 1) nested = JSON.stringify({ nested });
    expect(maskPayload(nested)).not.toContain('hush');
  });

  it('is shown without the query of a URL', () => {
    expect(shown({ url: 'https://files.example/a.png?signature=hush&exp=1' })).toEqual({
      url: 'https://files.example/a.png?(hidden)',
    });
  });

  it.each([
    ['200 characters as they are', 'a'.repeat(200), 'a'.repeat(200)],
    ['201 characters shortened', 'a'.repeat(201), `${'a'.repeat(200)}… (201 characters)`],
  ])('has %s', (_title, text, expected) => {
    expect(shown({ text })).toEqual({ text: expected });
  });

  it('is bounded in items, depth and length', () => {
    expect((shown(Array(51).fill(1)) as unknown[]).at(-1)).toBe('… (51 items)');
    let deep: unknown = 'hush';
    for (let level = 0; level < 20; level += 1) deep = { deep };
    expect(maskPayload(deep)).not.toContain('hush');
    expect(
      maskPayload(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, 'a b'.repeat(66)]))),
    ).toHaveLength(8000 + '\n… (shortened)'.length);
  });

  it.each([
    [undefined, 'null'],
    [null, 'null'],
    [5, '5'],
  ])('%s is %s', (payload, expected) => {
    expect(maskPayload(payload)).toBe(expected);
  });
});
