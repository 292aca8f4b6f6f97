/** Every fenced block has a tag, and is what its tag promises; see blocks.fixture.ts. Other files here run those that run. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse as parseMarkdown } from '@textlint/markdown-to-ast';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '#app/config.ts';
import { root } from '../acceptance/running.fixture.ts';
import {
  blocks,
  drawings,
  isKnownVariable,
  isSetting,
  longCommands,
  outside,
  pages,
  runElsewhere,
  tags,
  withTag,
} from './blocks.fixture.ts';
import { portOf, requestsOf } from './requests.fixture.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The commands of a block, without assignments in front of them. */
const commandsOf = (text: string) =>
  text
    .replaceAll('\\\n', ' ')
    .split(/\n|&&|\||;|\bdo\b/)
    .map((command) => command.trim().replace(/^(?:[A-Z_0-9]+=\S* +)+/, ''))
    .filter((command) => command !== '' && !command.startsWith('#'));

it('every block has a known tag', () => {
  expect(blocks.length).toBeGreaterThan(150);
  const unknown = blocks.filter(({ tag }) => !Object.hasOwn(tags, tag));
  expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

it('no code is in an indented block, which has no tag', () => {
  const indented = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const found = parseMarkdown(text).children.filter(({ type }) => type === 'CodeBlock');
    return found.filter(({ raw }) => !raw.startsWith('```')).map(({ loc }) => `${page}:${loc.start.line}`);
  });
  expect(indented).toEqual([]);
});

it('only the listed pages have blocks of text: commands have the tag sh or bash', () => {
  const counts = Map.groupBy(withTag('text'), ({ page }) => page);
  expect(Object.fromEntries([...counts].map(([page, { length }]) => [page, length]))).toEqual(drawings);
});

it.each(withTag('json', 'yaml'))('$page:$line is $tag', ({ tag, text }) => {
  if (tag === 'json') expect(() => JSON.parse(text)).not.toThrow();
  else expect(parse(text)).toBeTypeOf('object');
});

it.each(withTag('env'))('$page:$line sets variables that exist, to accepted values', ({ text }) => {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  expect(pairs.map(([name]) => name).filter((name) => !isKnownVariable(name))).toEqual([]);
  // The file of the models is on the reader's machine; guides.test.ts opens the files that the pages show.
  const env = Object.fromEntries(pairs.filter(([name]) => isSetting(name) && name !== 'MODELS_FILE'));
  expect(() => readConfig(env, [], { keepSecrets: false })).not.toThrow();
});

describe('commands outside of the suite', () => {
  it.each(withTag('bash'))('$page:$line can be parsed, and cannot run here', async ({ text }) => {
    await promisify(execFile)('bash', ['-n', '-c', text]);
    const commands = commandsOf(text);
    const own = commands.flatMap((command) => {
      const [, run, direct] = /^npm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/.exec(command) ?? [];
      const [, launched] = /\blaunch\.mjs ([\w:-]+)/.exec(command) ?? [];
      return run ?? direct ?? launched ?? [];
    });
    expect(own.filter((name) => !(name in scripts))).toEqual([]);
    expect(own.filter((name) => !(name in runElsewhere) && !longCommands.includes(name))).toEqual([]);
    const isOutside = commands.some((command) => outside.test(command));
    expect(isOutside || own.length > 0, 'give it the tag sh, so that it runs').toBe(true);
  });

  it.each(Object.entries(runElsewhere))('npm run %s is run by %s', (name, path) => {
    expect(readFileSync(join(root, path), 'utf8')).toMatch(new RegExp(`(?:['" ])${name}\\b`));
  });
});

it.each(withTag('http'))('$page:$line names operations of the API', ({ text }) => {
  for (const request of requestsOf(text)) expect(portOf(request)).toBeGreaterThan(4000);
});
