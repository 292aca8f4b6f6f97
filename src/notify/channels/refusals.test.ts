import { describe, expect, it } from 'vitest';
import { isMailboxMissing } from './smtp.ts';

const codeOf = (response: string) => Number(response.slice(0, 3));

describe('the mailbox is missing', () => {
  it.each([
    '550 5.1.1 no such user',
    '550 5.1.1 <b@example.com>: Recipient address rejected: User unknown in local recipient table',
    '550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking the address',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    '550 5.1.2 Bad destination system address',
    '551 5.1.6 moved',
    '553 5.1.3 bad syntax',
    '554 5.1.1 unknown',
    '550 #5.1.0 Address rejected.',
    '550 sorry, no mailbox here by that name (#5.1.1)',
    '550 5.1.1 <sender@relay.example>: User unknown',
    '550 no such user',
    '550 No such user here',
    '550 No Such User Here"',
    '550 <relay@example.com>: no such local user',
    '550 User unknown',
    '550 Unknown user b@example.com',
    '550 user b@example.com does not exist',
    '550 This mailbox doesn’t exist',
    '550 The email account that you tried to reach does not exist',
    '550 Mailbox not found',
    '550 Invalid recipient',
    '550 Requested action not taken: mailbox unavailable',
    '550 mailbox unavailable',
    '551 user has moved',
    '553 mailbox name not allowed',
    '550-b@example.com\n550 no such\tuser',
  ])('%j', (response) => expect(isMailboxMissing(codeOf(response), response)).toBe(true));
});

describe('the rejection is not about the mailbox', () => {
  it.each([
    '550 relay not permitted',
    '550 Relaying denied',
    '550 relay from 5.1.2.3 not permitted',
    '550 5.7.1 Unable to relay for b@example.com',
    '550 5.1.1 relaying denied',
    '550 Sender verify failed',
    '550-Verification failed for <a@example.com>\n550-No Such User Here\n550 Sender verify failed',
    '550 5.1.8 <a@example.com>: Sender address rejected: Domain not found',
    '550 5.1.7 bad sender mailbox syntax',
    '550 5.1.0 Sender denied',
    '550 5.7.1 blocked',
    '550 5.7.26 Unauthenticated sender',
    '550 5.2.1 mailbox disabled',
    '552 5.2.2 mailbox full',
    '550 5.4.1 Recipient address rejected: Access denied',
    '550 5.0.0 no such user',
    '550 15.1.1 no',
    '550 Administrative prohibition',
    '550 Rejected: your IP address is listed',
    '550 Your IP address not found in DNS',
    '550 Client host address not found',
    '550 Requested action not taken: mailbox unavailable. Reject due to policy restrictions',
    '550 mailbox unavailable: too many messages, rate limited',
    '550 account suspended',
    '550 authentication failed: unknown user',
    '550 Unrouteable address',
    '550 spam',
    '550',
    '550 ',
    '551 not local',
    "553 sorry, that domain isn't in my list of allowed rcpthosts",
    '554 no such user',
    '552 user unknown',
    '450 4.1.1 no such user',
    '450 5.1.1 no such user',
    '421 unknown user',
  ])('%j', (response) => expect(isMailboxMissing(codeOf(response), response)).toBe(false));

  it('reads a long text quickly', () => {
    for (const part of ['user ', '<', 'a@', 'a', ' ', '#5.'])
      expect(isMailboxMissing(550, `550 ${part.repeat(1_000_000)}`)).toBe(false);
  });
});
