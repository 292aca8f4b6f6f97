import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { noteOfToolImage } from '../attachments.ts';
import { newestHalf } from './resilientmodel.ts';

const system: LanguageModelV4Message = { role: 'system', content: 'Be kind.' };
const ask = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] });
const say = (text: string): LanguageModelV4Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } } as const;
const long = 'b'.repeat(30_000);
const bytesOf = (prompt: LanguageModelV4Prompt = []) => JSON.stringify(prompt).length;

describe('half of a prompt', () => {
  it('begins with the instructions and a question, and ends with the last question', () => {
    const turns = ['1', '2', '3', '4'].flatMap((word) => [ask(word.repeat(900)), say(word.repeat(900))]);
    const half = newestHalf([system, ...turns, ask('And now?')]);
    expect(half).toEqual([system, ...turns.slice(6), ask('And now?')]);
  });

  it('of one long question has its beginning and its end', () => {
    const prompt = [system, ask(`first ${long} last`)];
    const half = newestHalf(prompt);
    expect(half?.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(bytesOf(half) / bytesOf(prompt)).toBeCloseTo(0.5, 1);
    expect(JSON.stringify(half)).toMatch(/first b+\\n\[…\]\\nb+ last/);
  });

  it('has short texts whole, and characters of several bytes', () => {
    const content = [long, '語'.repeat(10_000), 'What is that?'].map((text) => ({ type: 'text', text }) as const);
    const prompt: LanguageModelV4Prompt = [{ role: 'user', content }];
    const half = newestHalf(prompt);
    expect(JSON.stringify(half)).toContain('"What is that?"');
    expect(Buffer.byteLength(JSON.stringify(half)) / Buffer.byteLength(JSON.stringify(prompt))).toBeCloseTo(0.5, 1);
  });

  it('has a part of the long output of a tool', () => {
    const call = { toolCallId: 'c', toolName: 'look' };
    const steps: LanguageModelV4Prompt = [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'json', value: { found: long } } }] },
    ];
    const half = newestHalf([system, ask('Look.'), ...steps]);
    expect(half?.slice(0, 3)).toEqual([system, ask('Look.'), steps[0]]);
    expect(half?.[3]).toMatchObject({ content: [{ ...call, output: { type: 'text' } }] });
    expect(bytesOf(half)).toBeLessThan(16_000);
  });

  it('has the question before images that tools have made', () => {
    const call = { toolCallId: 'c', toolName: 'draw' };
    const step: LanguageModelV4Prompt = [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: long } }] },
      { role: 'user', content: [{ type: 'text', text: noteOfToolImage('7') }, image] },
    ];
    const half = newestHalf([system, ask('1'), say('2'), ask('Draw a boat.'), ...step]);
    expect(half?.slice(0, 3)).toEqual([system, ask('Draw a boat.'), step[0]]);
    expect(half?.at(-1)).toEqual(step[2]);
  });

  it.each<SharedV4ProviderOptions>([
    { anthropic: { signature: 's' } },
    { google: { thoughtSignature: 's' } },
    { openai: { itemId: 'i', reasoningEncryptedContent: 's' } },
  ])('has signed reasoning before tool calls whole: %j', (providerOptions) => {
    const call = { toolCallId: 'c', toolName: 'look' };
    const output = { type: 'text', value: long } as const;
    const stepsWith = (providerOptions: SharedV4ProviderOptions): LanguageModelV4Prompt => [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'r'.repeat(20_000), providerOptions },
          { type: 'tool-call', ...call, input: {} },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
    ];
    const signed = newestHalf([ask('Look.'), ...stepsWith(providerOptions)]);
    expect(signed?.[1]).toEqual(stepsWith(providerOptions)[0]);
    expect(bytesOf(signed)).toBeLessThan(26_000);
    const unsigned = stepsWith({ openai: { itemId: 'i', reasoningEncryptedContent: null } });
    expect(newestHalf([ask('Look.'), ...unsigned])?.[1]).not.toEqual(unsigned[0]);
  });

  it('has the newest images of a question', () => {
    const half = newestHalf([{ role: 'user', content: [...Array(8).fill(image), { type: 'text', text: 'Which?' }] }]);
    const types = half?.flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(({ type }) => type)));
    expect(types).toEqual([...Array(6).fill('text'), 'file', 'file', 'text']);
  });

  it('does not exist if there is nothing to leave out', () => {
    expect(newestHalf([system, ask('Hello?')])).toBeUndefined();
  });
});
