import { describe, expect, it } from 'vitest';
import { readMcpServers, secretsOfMcpServers } from './mcpservers.ts';

describe('AGENT_MCP_SERVERS', () => {
  it('names servers with their headers', () => {
    const raw = JSON.stringify({
      a: { url: 'https://a.example/mcp', headers: { 'x-key': 'v' } },
      b: { url: 'http://b.example/' },
    });
    expect(readMcpServers(raw)).toEqual([
      { name: 'a', url: 'https://a.example/mcp', headers: { 'x-key': 'v' } },
      { name: 'b', url: 'http://b.example/', headers: {} },
    ]);
  });

  it.each([
    ['no JSON', '{', 'must be a JSON object'],
    ['a list', '[]', 'must be a JSON object'],
    ['a name that no tool can have', '{"a b":{"url":"https://a.example"}}', '`a b`'],
    ['a name that is too long', `{"${'a'.repeat(33)}":{"url":"https://a.example"}}`, 'must be a JSON object'],
    ['no URL', '{"a":{}}', '`a.url`'],
    ['another scheme', '{"a":{"url":"ftp://a.example"}}', '`a.url`'],
    ['an unknown field', '{"a":{"url":"https://a.example","command":"x"}}', '`a`'],
    ['credentials in the URL', '{"a":{"url":"https://u:hunter2@a.example"}}', '`a.url` must not contain credentials'],
    ['a header that is none', '{"a":{"url":"https://a.example","headers":{"x":"hunter2\\nb: c"}}}', '`a.headers`'],
    [
      'a header of the protocol',
      '{"a":{"url":"https://a.example","headers":{"Mcp-Session-Id":"hunter2"}}}',
      '`a.headers`',
    ],
    ['a value that is no text', '{"a":{"url":"https://a.example","headers":{"x":["hunter2"]}}}', '`a.headers.x`'],
  ])('refuses %s, and shows no value', (_title, raw, message) => {
    expect(() => readMcpServers(raw)).toThrow(message);
    expect(() => readMcpServers(raw)).not.toThrow('hunter2');
  });

  it('refuses more than 16 servers', () => {
    const all = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`s${n}`, { url: 'https://a.example' }]));
    expect(() => readMcpServers(JSON.stringify(all))).toThrow('at most 16');
  });

  it('gives the log the credentials to remove', () => {
    const headers = { authorization: 'Bearer abcdefgh12', 'x-short': 'no' };
    expect(secretsOfMcpServers([{ name: 'a', url: 'https://a.example', headers }])).toEqual([
      'Bearer abcdefgh12',
      'abcdefgh12',
    ]);
  });
});
