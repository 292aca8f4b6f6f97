import { describe, expect, it } from 'vitest';
import { readUnsubscribe, signUnsubscribe } from '#accounts/unsubscribing.ts';
import { contentLanguages } from '#platform/language.ts';
import { renderMail } from './rendering.ts';
import { accountDeleted } from './types/accountdeleted.ts';
import { accountDeletionScheduled } from './types/accountdeletionscheduled.ts';
import { dailyDigest } from './types/dailydigest.ts';
import { findType } from './types/registry.ts';

const deps = {
  appUrl: 'https://app.example.com/?a=1&b="2"',
  unsubscribeUrl: 'https://content.example.com/unsubscribe',
  unsubscribeSecret: 'secret',
};
const userId = '0b1e9d3c-1111-4222-8333-444455556666';
const types = [dailyDigest, accountDeletionScheduled, accountDeleted];

describe.each(types)('$name', (type) => {
  it('is registered by its name', () => {
    expect(findType(type.name)).toBe(type);
  });

  it.each(contentLanguages)('says the same in HTML and text, in %s', (language) => {
    const { subject, html, text } = renderMail(deps, type, { userId, language });
    const texts = type.texts[language];
    expect(subject).toBe(texts.subject);
    expect(subject).not.toMatch(/\p{Cc}/u);
    const visible = html.replaceAll('&#39;', "'").replaceAll('&amp;', '&').replaceAll('&quot;', '"');
    for (const sentence of [texts.heading, ...texts.paragraphs, texts.action]) {
      expect(sentence).not.toBe('');
      expect(visible).toContain(sentence);
      expect(text).toContain(sentence);
    }
    expect(text).toContain(deps.appUrl);
    expect(html).toContain('href="https://app.example.com/?a=1&amp;b=&quot;2&quot;"');
  });

  it('has its own words in every language', () => {
    const headings = contentLanguages.map((language) => type.texts[language].heading);
    expect(new Set(headings).size).toBe(contentLanguages.length);
  });
});

describe('unsubscribing', () => {
  it('is offered by the digest, with a click or without (RFC 8058)', () => {
    const { html, text, headers } = renderMail(deps, dailyDigest, { userId, language: 'en' });
    const link = `${deps.unsubscribeUrl}?token=${signUnsubscribe('secret', userId)}`;
    expect(headers).toEqual({
      'List-Unsubscribe': `<${link}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(html).toContain(`href="${link}"`);
    expect(text).toContain(link);
  });

  it.each([accountDeletionScheduled, accountDeleted])('is not offered by $name', (type) => {
    const { html, text, headers } = renderMail(deps, type, { userId, language: 'en' });
    expect(headers).toEqual({});
    expect(html + text).not.toContain('token=');
  });

  it('is signed', () => {
    const token = signUnsubscribe('secret', userId);
    expect(readUnsubscribe('secret', token)).toBe(userId);
    expect(readUnsubscribe('another', token)).toBeUndefined();
    for (let place = 0; place < token.length; place += 1) {
      const changed = token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1);
      expect(readUnsubscribe('secret', changed)).toBeUndefined();
    }
    for (const odd of ['', 'x', `${token}=`, `${token}A`, token.slice(1), `${token} `, '../..'])
      expect(readUnsubscribe('secret', odd)).toBeUndefined();
  });
});
