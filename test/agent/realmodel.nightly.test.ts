/** A conversation about a photograph with a real small model. It sees no images and calls no tools, so it gets notes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { embedded } from '../media/rig.fixture.ts';
import { attached, Conversation, partsOf, type Turn, text } from './conversation.fixture.ts';
import { realServers, type ServedModel, servedContextTokens } from './realmodel.fixture.ts';
import { type AgentRig, modelsOf, newThread, startAgent, testSettings } from './rig.fixture.ts';
import { messagesOf, pdfOf } from './wire.fixture.ts';

/** As many as exceed the context. */
const turnsBeyond = 30;
const things = ['sky', 'grass', 'sun', 'sea', 'snow', 'rose', 'coal'];
const questionOf = (turn: number) =>
  `Question ${turn}: in one word, what is the color of the ${things[turn % things.length]}, and why do people like it so much in the evening?`;

describe.each(realServers)('$title', { timeout: 300_000 }, ({ isMissing, start }) => {
  describe.skipIf(isMissing)('in a conversation', () => {
    let served: ServedModel;
    let rig: AgentRig;
    let talk: Conversation;
    let assetId: string;
    let first: Turn;

    beforeAll(async () => {
      served = await start();
      const model = {
        baseUrl: served.baseUrl,
        model: served.modelName,
        vision: false,
        tools: false,
        maxOutputTokens: 12,
        // Its best answer, and no other.
        temperature: 0,
      };
      rig = await startAgent(embedded, {
        model: modelsOf({
          file: [
            { id: 'small', ...model, contextTokens: 1000 },
            { id: 'hopeful', ...model, contextTokens: 16_000 },
          ],
        }),
        settings: { ...testSettings, instructions: 'Answer in one short sentence.' },
      });
      talk = new Conversation(rig, await rig.user('pro', 1000), served.asked);
      assetId = await talk.addToLibrary(await makeImage('jpeg'));
    }, 300_000);
    afterAll(async () => {
      await rig?.close();
      await served?.close();
    });

    const wordsOf = ({ answer }: Turn) =>
      (answer?.parts ?? []).map((part) => (part.type === 'text' ? String(part.text) : '')).join('');
    const isAnswered = (turn: Turn) => {
      expect([turn.status, turn.error]).toEqual(['completed', null]);
      expect(wordsOf(turn)).not.toBe('');
    };

    it('answers, reports its tokens, and receives a note for the photograph', async () => {
      first = await talk.send([attached(assetId), text('What is the capital of France?')]);
      isAnswered(first);
      expect(wordsOf(first)).toContain('Paris');
      const { usage, finishReason, credits } = first.answer?.metadata ?? {};
      expect(usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
      expect([finishReason, credits]).toEqual([expect.stringMatching(/^(stop|length)$/), 1]);
      expect(JSON.stringify(first.asked[0]?.body)).toContain(`[attached: assetId ${assetId}]`);
    });

    it('answers a message that was read, edited and sent again', async () => {
      const again = await talk.send(partsOf(first.question), { rewindTo: first.question.id });
      isAnswered(again);
      expect(again.question.parts[0]).toMatchObject({ providerMetadata: { atelier: { assetId } } });
      const edited = await talk.send([...partsOf(again.question).slice(0, 1), text('What is the capital of Italy?')], {
        rewindTo: again.question.id,
      });
      isAnswered(edited);
      // A small model may answer in the language of the country.
      expect(wordsOf(edited)).toMatch(/Rom[ae]/);
      expect(await talk.messages()).toHaveLength(2);
    });

    it('answers after it was busy twice', async () => {
      served.refuse(2);
      const busy = await talk.send([text('Name one color.')]);
      isAnswered(busy);
      expect(busy.asked).toHaveLength(3);
    });

    it.runIf(isNightly)('answers questions beyond its context, from the newest messages', async () => {
      let last: Turn | undefined;
      for (let turn = 1; turn <= turnsBeyond; turn++) {
        last = await talk.send([text(questionOf(turn))]);
        isAnswered(last);
      }
      const [, ...messages] = last?.asked[0] === undefined ? [] : messagesOf(last.asked[0]);
      expect(messages[0]?.role).toBe('user');
      expect(JSON.stringify(messages)).not.toContain('Question 1:');
      expect(JSON.stringify(messages)).toContain(`Question ${turnsBeyond}:`);
      expect(last?.asked).toHaveLength(1);
    });

    it.runIf(isNightly)('refuses a prompt that is too long, and answers the newest half of it', async () => {
      const user = await rig.user('pro', 10);
      const threadId = newThread();
      const ask = async (words: string) => {
        const body = { threadId, text: words, model: 'hopeful' };
        const { body: started } = await user.call<{ taskId: string }>('POST', '/task', body);
        return user.ended(started.taskId);
      };
      await ask('My name is Ada. Say hello.');
      expect((await ask(`${'The cat sat on the mat. '.repeat(80)}What sat on the mat?`)).status).toBe('completed');
      const calls = served.asked.length;
      expect((await ask(`${'The dog lay on the rug. '.repeat(80)}What lay on the rug?`)).status).toBe('completed');
      const [whole, half] = served.asked.slice(calls).map((asked) => messagesOf(asked).length);
      expect([whole, half]).toEqual([6, 2]);
      const { length } = JSON.stringify(served.asked[calls]?.body);
      expect(length / 4).toBeGreaterThan(servedContextTokens * 0.9);
    });

    it('receives the text of a document', async () => {
      const url = `data:application/pdf;base64,${pdfOf('The bees are in the garden').toString('base64')}`;
      const turn = await talk.send([{ type: 'file', mediaType: 'application/pdf', url }, text('Where are the bees?')]);
      isAnswered(turn);
      expect(JSON.stringify(turn.asked[0]?.body)).toContain('The bees are in the garden');
    });

    it('was never given an address', () => {
      for (const { body } of served.asked) expect(JSON.stringify(body)).not.toMatch(/https?:/);
    });
  });
});
