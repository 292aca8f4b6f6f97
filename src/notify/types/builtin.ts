/** Types with built-in texts: one layout, 12 languages. */
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';
import { type Layout, layOut } from '../layout.ts';
import type { MailFacts, NotificationType } from './notification.ts';

/** `{brand}`, `{email}`, `{today}` and values of the type itself are replaced in all texts. */
export interface MailTexts {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** The label of the button to the application. */
  readonly action: string;
}

export interface BuiltIn<Texts extends MailTexts> {
  readonly name: string;
  readonly audience: NotificationType['audience'];
  readonly plans?: NotificationType['plans'];
  readonly showsTrending?: boolean;
  readonly texts: Readonly<Record<ContentLanguage, Texts>>;
  /** Adapts the texts to the facts. By default, they stay unchanged. */
  readonly adapt?: (texts: Texts, facts: MailFacts) => AdaptedTexts;
}

export interface AdaptedTexts extends MailTexts, Pick<Layout, 'items' | 'about'> {
  /** Of the button, in place of that of the application. */
  readonly url?: string | undefined;
  readonly values?: Readonly<Record<string, string>>;
}

export function builtIn<Texts extends MailTexts>(
  type: BuiltIn<Texts>,
): NotificationType & Pick<BuiltIn<Texts>, 'texts'> {
  const { name, audience, plans, showsTrending = false, texts, adapt = (same) => same } = type;
  return {
    name,
    audience,
    plans,
    locales: contentLanguages,
    showsTrending,
    texts,
    render: (facts) => {
      const adapted: AdaptedTexts = adapt(texts[facts.language], facts);
      const values = {
        brand: facts.brand.name,
        email: facts.user.email,
        today: formatDate(facts.now, facts.language),
        ...adapted.values,
      };
      return layOut(
        { ...facts, appUrl: adapted.url ?? facts.appUrl },
        {
          ...adapted,
          subject: fill(adapted.subject, values),
          heading: fill(adapted.heading, values),
          paragraphs: adapted.paragraphs.map((paragraph) => fill(paragraph, values)),
          action: fill(adapted.action, values),
        },
      );
    },
  };
}

/** A day in UTC, because the reader's time zone is unknown. */
export function formatDate(date: Date, language: ContentLanguage): string {
  return new Intl.DateTimeFormat(language.replace('_', '-'), { dateStyle: 'long', timeZone: 'UTC' }).format(date);
}

export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
