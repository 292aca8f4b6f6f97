/** A conversation of 500 messages in Chromium, while an answer streams: the first text, long tasks and layout shifts. */
import type { Page } from 'playwright-core';
import { enterAsUser } from '../test/console/rig.fixture.ts';
import { atMost, type Bench, median } from './bench.ts';
import { type ConsolePage, withConsolePage } from './consolepage.ts';

const messages = 500;
const rounds = 3;
/** What a review measured by hand in this conversation, on a machine with a load of 6. */
const firstTextMs = 1400;
const longTaskMs = 75;
const layoutShift = 0.02;
const answerMs = 120_000;
/** After an answer, the page reads the stored messages again. */
const quietMs = 2000;

/** Every kind of Markdown that an answer has. */
const answer = [
  'Here is a plan for the shoot at the **lighthouse**, with the light of each hour:',
  '',
  '| Shot | Lens | Light |',
  '| --- | --- | --- |',
  '| Lighthouse at dusk | 35 mm | Short exposure |',
  '',
  '1. Arrive an hour early.',
  '2. Set the tripod on the rocks, away from the spray.',
  '',
  '```python',
  'def exposure(stops):',
  '    return 1 / 2 ** stops',
  '```',
  '',
  'Then wait for the lamp, and keep the horizon level. '.repeat(8),
].join('\n');

export const conversation: Bench = {
  run: () =>
    withConsolePage(async (visitor) => {
      const { page, rig } = visitor;
      page.setDefaultTimeout(answerMs);
      await enterAsUser(visitor, rig, '/studio');
      await page.getByLabel('Message', { exact: true }).fill('hello');
      await page.keyboard.press('Enter');
      // The button of an answer appears after the message is sent. Rows are planted once the answer is stored.
      await page.locator('.message.assistant').filter({ hasText: /\S/ }).waitFor();
      await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
      await plantMessages(visitor);
      await page.reload();
      await page
        .locator('.message')
        .nth(messages - 1)
        .waitFor();
      const streamed: Streamed[] = [];
      for (let round = 0; round < rounds; round++) streamed.push(await stream(page));
      for (const { firstMs, longestMs, shift } of streamed)
        console.error(`  first text ${firstMs} ms, longest task ${longestMs} ms, layout shift ${shift.toFixed(4)}`);
      const largest = (name: keyof Streamed) => Math.max(...streamed.map((each) => each[name]));
      const against = 'a limit';
      const among = `among ${messages} messages`;
      return [
        atMost(firstTextMs, {
          goal: `first text of an answer, ms, ${among}`,
          measured: median(streamed.map(({ firstMs }) => firstMs)),
          against,
        }),
        atMost(longTaskMs, {
          goal: `longest task while it streams, ms, ${among}`,
          measured: largest('longestMs'),
          against,
        }),
        atMost(layoutShift, { goal: `layout shift while it streams, ${among}`, measured: largest('shift'), against }),
      ];
    }),
};

interface Streamed {
  /** From the key to the first text. */
  readonly firstMs: number;
  /** From the first text to the end. Tasks below 50 ms are not reported. */
  readonly longestMs: number;
  readonly shift: number;
}

/** Rows of messages before the two of the conversation that is there. */
async function plantMessages({ plant }: ConsolePage): Promise<void> {
  await plant('update agent_messages set seq = seq + $1', [messages]);
  await plant(
    `insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq, bytes)
     select thread_id, gen_random_uuid(), owner_id, case place % 2 when 1 then 'user' else 'assistant' end,
       jsonb_build_array(jsonb_build_object('type', 'text', 'text',
         case place % 2 when 1 then 'And shot ' || place || '?' else $2 end)),
       '{}', place, octet_length($2)
     from agent_threads, generate_series(1, $1::integer) as place`,
    [messages - 2, answer],
  );
  await plant(
    `update agent_threads set last_seq = last_seq + $1, message_count = $1,
       message_bytes = (select sum(bytes) from agent_messages)`,
    [messages],
  );
}

/** Sends a message, and observes the page to the end of its answer. */
async function stream(page: Page): Promise<Streamed> {
  await page.waitForTimeout(quietMs);
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.getByLabel('Message', { exact: true }).fill('/long 900');
  // The observer is there before the key, which can overtake a script that is not awaited.
  await page.evaluate(`void (globalThis.streamed = new Promise((resolve) => {
    const seen = { firstMs: 0, longestMs: 0, shift: 0 };
    let before = Infinity;
    let since;
    const onKey = () => {
      since = performance.now();
      before = document.querySelectorAll('.message.assistant').length;
    };
    addEventListener('keydown', onKey, { once: true, capture: true });
    const tasks = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries())
        if (seen.firstMs > 0 && startTime > since + seen.firstMs) seen.longestMs = Math.max(seen.longestMs, duration);
    });
    const shifts = new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) seen.shift += value;
    });
    tasks.observe({ type: 'longtask' });
    shifts.observe({ type: 'layout-shift' });
    const look = () => {
      const answers = document.querySelectorAll('.message.assistant');
      const isThere = answers.length > before && answers[answers.length - 1].textContent.trim() !== '';
      if (isThere && seen.firstMs === 0) seen.firstMs = Math.round(performance.now() - since);
      if (isThere && document.querySelector('[aria-label=Stop]') === null) {
        tasks.disconnect();
        shifts.disconnect();
        resolve(seen);
      } else requestAnimationFrame(look);
    };
    look();
  }))`);
  await page.keyboard.press('Enter');
  return (await page.evaluate('streamed')) as Streamed;
}
