/**
 * Types without code (NOTIFY_TEMPLATES_DIR): a folder for each, with `type.json` and, for each language, a subject, an
 * HTML and a text template in Mustache. HTML templates escape inserted values. Subjects and texts do not.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import mustache from 'mustache';
import { z } from 'zod';
import { plan } from '#accounts/api.ts';
import { escapeHtml } from '#platform/escaping.ts';
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { MailFacts, NotificationType } from './notification.ts';

const description = z.strictObject({
  audience: z.enum(['account', 'product']),
  plans: z.array(plan).min(1).optional(),
});

const parts = ['subject', 'html', 'txt'] as const;
type Part = (typeof parts)[number];
type Templates = Readonly<Record<Part, string>>;

const nameRule = /^[a-z0-9][a-z0-9._-]{0,127}$/i;
/** The limit of an outgoing mail, the same as of a caller's mail. */
const maxLineLength = 998;

/** Throws StartFault that names the file. */
export async function readTemplates(folder: string): Promise<readonly NotificationType[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(fault(folder));
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  return Promise.all(folders.map(({ name }) => readType(join(folder, name), name)));
}

async function readType(folder: string, name: string): Promise<NotificationType> {
  if (!nameRule.test(name)) throw new StartFault(`NOTIFY_TEMPLATES_DIR: ${folder}: must be letters, digits, and . _ -`);
  const file = join(folder, 'type.json');
  const parsed = await readFile(file, 'utf8').then(JSON.parse).catch(fault(file));
  const { audience, plans } = check(description, parsed, file);
  const files = (await readdir(folder)).filter((entry) => entry !== 'type.json' && !entry.startsWith('.'));
  const templates = new Map<ContentLanguage, Templates>();
  for (const locale of localesOf(folder, files)) templates.set(locale, await readLocale(folder, locale));
  const english = templates.get('en');
  if (english === undefined)
    throw new StartFault(`NOTIFY_TEMPLATES_DIR: ${folder}: en.subject, en.html and en.txt are missing`);
  return {
    name,
    audience,
    plans,
    locales: contentLanguages.filter((language) => templates.has(language)),
    showsTrending: false,
    render: (facts) => render(templates.get(facts.language) ?? english, facts),
  };
}

/** A file with another name is an error that would otherwise only show as a mail in the wrong language. */
function localesOf(folder: string, files: readonly string[]): ReadonlySet<ContentLanguage> {
  return new Set(
    files.map((file) => {
      const locale = contentLanguages.find((language) => parts.some((part) => file === `${language}.${part}`));
      if (locale === undefined)
        throw new StartFault(`NOTIFY_TEMPLATES_DIR: ${join(folder, file)}: must be <locale>.subject, .html or .txt`);
      return locale;
    }),
  );
}

async function readLocale(folder: string, locale: ContentLanguage): Promise<Templates> {
  const [subject = '', html = '', txt = ''] = await Promise.all(
    parts.map(async (part) => {
      const file = join(folder, `${locale}.${part}`);
      const template = await readFile(file, 'utf8').catch(fault(file));
      try {
        mustache.parse(template);
      } catch (error) {
        throw new StartFault(
          `NOTIFY_TEMPLATES_DIR: ${file}: ${error instanceof Error ? error.message : 'is not a template'}`,
        );
      }
      return template;
    }),
  );
  return { subject, html, txt };
}

function render(templates: Templates, facts: MailFacts) {
  const { language, user, data, brand, appUrl, unsubscribeUrl } = facts;
  const view = {
    data,
    user: { id: user.id, email: user.email, plan: user.plan, locale: language },
    brand: { name: brand.name, logoUrl: brand.logoUrl, color: brand.color, postalAddress: brand.postalAddress },
    appUrl,
    unsubscribeUrl,
  };
  const fill = (template: string, escapeValue: (value: unknown) => string) =>
    mustache.render(template, view, {}, { escape: escapeValue });
  const oneLine = fill(templates.subject, String)
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return {
    subject: oneLine.slice(0, maxLineLength).toWellFormed(),
    html: fill(templates.html, (value) => escapeHtml(String(value))),
    text: fill(templates.txt, String),
  };
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, file: string): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data as z.output<Schema>;
  const [issue] = error.issues;
  throw new StartFault(`NOTIFY_TEMPLATES_DIR: ${file}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}

function fault(file: string) {
  return (error: Error): never => {
    throw new StartFault(`NOTIFY_TEMPLATES_DIR: ${file}: ${error.message}`, { cause: error });
  };
}
