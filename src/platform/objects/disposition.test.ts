import { expect, test } from 'vitest';
import { attachment } from './disposition.ts';

test.each([
  [true, 'attachment'],
  ['holiday.jpg', `attachment; filename="holiday.jpg"; filename*=UTF-8''holiday.jpg`],
  ['my "best" day.jpg', `attachment; filename="my _best_ day.jpg"; filename*=UTF-8''my%20%22best%22%20day.jpg`],
  ['Größe 100%.png', `attachment; filename="Gr__e 100_.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20100%25.png`],
  ["it's (1)*.mp4", `attachment; filename="it's (1)*.mp4"; filename*=UTF-8''it%27s%20%281%29%2A.mp4`],
  ['🎬.mp4', `attachment; filename="_.mp4"; filename*=UTF-8''%F0%9F%8E%AC.mp4`],
  ['a;b=c\\d', `attachment; filename="a;b=c_d"; filename*=UTF-8''a%3Bb%3Dc%5Cd`],
])('%s', (name, header) => {
  expect(attachment(name as string | true)).toBe(header);
});
