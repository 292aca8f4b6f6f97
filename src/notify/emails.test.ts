import { expect, it } from 'vitest';
import { mailOf } from './emails.ts';

it('sends one copy to an address that is written in different letters', () => {
  const to = ['a@example.com', 'b@example.com', 'A@example.com', 'Ann <a@EXAMPLE.com>'];
  const mail = mailOf({ from: 'x@example.com', to, cc: [...to], subject: 'Hello', text: 'Hello' });
  expect([mail.to, mail.cc]).toEqual([
    ['a@example.com', 'b@example.com'],
    ['a@example.com', 'b@example.com'],
  ]);
});
