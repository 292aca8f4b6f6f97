import { expect, it } from 'vitest';
import { lintCode } from '../../tools/prose/code.ts';
import { findFaults } from '../../tools/prose/faults.ts';
import { lintMarkdown } from '../../tools/prose/markdown.ts';

it.each([
  ['The image is made anew.', 1],
  ['The server gives 409.', 1],
  ['The signed address ends after an hour.', 1],
  ['Its behaviour lies in the file.', 2],
  ['What is left is deleted.', 1],
  ['What happens if the process dies?', 0],
  ['Of nothing but spaces it finds nothing.', 1],
  ['Of course, retries are safe.', 0],
  ['The abbreviation stands for a list.', 0],
  ['A stand-in signs users in, otherwise a provider does.', 0],
  ['The email address is stored.', 0],
  ['Use `anew`.', 1],
])('finds in "%s" %i faults', (text, count) => {
  expect(findFaults(text)).toHaveLength(count);
});

it.each([
  ['An upload is under way.', 'An upload is in progress.'],
  ['At most 100 requests in flight.', 'At most 100 concurrent requests.'],
  ['The id is beside the name.', 'The id is next to the name.'],
  ['The mails were sent by each mail server.', 'The emails were sent by each mail server.'],
  ['It matches whatever the case.', 'It matches regardless of case.'],
  ['It is refused from the next refresh on.', 'It is refused, starting with the next refresh.'],
  ['TLS is the task of the proxy.', 'The proxy handles TLS.'],
  ['A deleted file does not come back.', 'A deleted file is not restored.'],
  ['The rights are those of a run.', 'The rights are the same as for a run.'],
  ['It has a pool of its own.', 'It has its own pool.'],
  ['It deletes a file for good.', 'It permanently deletes a file.'],
  ['Beyond it, requests are refused.', 'Above the limit, requests are refused.'],
  ['An unknown id is a 404.', 'An unknown id returns 404. The response is 404.'],
  ['A file is no asset.', 'A file is not an asset. There is no asset.'],
  ['It takes some 200 bytes.', 'It takes about 200 bytes.'],
  ['A retry is refused, and so is a copy.', 'A retry is refused, as is a copy.'],
  ['It works also for videos.', 'It works for videos, too.'],
  ['It is deleted in any case.', 'It is always deleted.'],
  ['Read the page before.', 'Read the previous page.'],
  ['The engine is away.', 'The engine is unavailable.'],
  ['The file is gone.', 'The file no longer exists.'],
  ['You need not restart.', 'You do not have to restart.'],
  ['Restart them one after the other.', 'Restart them one at a time.'],
  ['Sorted by falling score.', 'Sorted by descending score.'],
  ['A made-up account.', 'A test account.'],
  ['A job clears up.', 'A job cleans up.'],
  ['The owner who was served longest ago.', 'The least recently served owner.'],
  ['There is no place for an upload.', 'There is no slot for an upload.'],
  ['The model is silent.', 'The model sends nothing.'],
  ['It survives the death of a process.', 'It survives the crash of a process.'],
  ['It works while the run lives.', 'It works during the run.'],
  ['The server answers with an error.', 'The server responds with an error.'],
  ['A header that is believed.', 'A header that is trusted.'],
  ['The call fails at once.', 'The call fails immediately. Two run at once.'],
  ['Copy it by hand.', 'Copy it manually.'],
  ['The call may be repeated.', 'You can repeat the call.'],
  ['The reader is cut off.', 'The reader is disconnected.'],
  ['The link leads to nothing.', 'The link stops working.'],
  ['This holds for all files.', 'This applies to all files. It holds a lock.'],
  ['A missing key is a start fault.', 'Without the key, the start fails.'],
  ['It lists what operators did.', "It lists operators' actions."],
])('finds one fault in "%s" and none in "%s"', (habit, plain) => {
  expect(findFaults(habit)).toHaveLength(1);
  expect(findFaults(plain)).toEqual([]);
});

it('finds a sentence of more than 30 words, and where it starts', () => {
  const words = (count: number) => `${Array(count).fill('word').join(' ')}.`;
  expect(findFaults(words(30))).toEqual([]);
  expect(findFaults(`Short. W${words(31)}`)).toEqual([{ index: 7, message: 'a sentence of 31 words: at most 30' }]);
});

it('reads paragraphs, headings, lists and tables of a page, without code and URLs', () => {
  const page = [
    '# Deeds',
    '',
    'See [anew](https://anew.example/anew) and `anew`.',
    '',
    '- First line,',
    '  told on the second.',
    '',
    '| a | b |',
    '|---|---|',
    '| fine | likewise |',
    '',
    '```sh',
    'echo anew',
    '```',
  ].join('\n');
  const found = lintMarkdown(page);
  expect(found.map(({ line, message }) => `${line} ${message.split(':')[0]}`)).toEqual([
    '1 "Deeds"',
    '3 "anew"',
    '6 "told"',
    '10 "likewise"',
  ]);
});

it('reads sentences and log lines in code, and neither names, SQL nor other literals', () => {
  const code = `
    const anew = 'anew';
    const message = 'Try it anew.';
    const sized = \`Over \${limit} nobody waits.\`;
    const view = <p title="Write anew">Try anew</p>;
    log.warn('a cache is filled anew');
    const rows = sql\`select anew from told where asked\`;`;
  expect(lintCode('view.tsx', code).map(({ line }) => line)).toEqual([3, 4, 5, 5, 6]);
});
