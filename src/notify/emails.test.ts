import { expect, it } from 'vitest';
import { mailOf } from './emails.ts';

it('sends one copy to an address that is written in different letters', () => {
  const to = ['a@example.com', 'b@example.com', 'A@example.com', 'Ann <a@EXAMPLE.com>'];
  const rest = { html: undefined, bcc: undefined, reply_to: undefined, attachments: undefined, headers: undefined };
  const request = { from: 'x@example.com', to, cc: [...to], subject: 'Hello', text: 'Hello', ...rest };
  const mail = mailOf({ ...request, tags: undefined, scheduled_at: undefined });
  expect([mail.to, mail.cc]).toEqual([
    ['a@example.com', 'b@example.com'],
    ['a@example.com', 'b@example.com'],
  ]);
});
