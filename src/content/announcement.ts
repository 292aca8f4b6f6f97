import { z } from 'zod';
import type { ContentLanguage } from '#platform/language.ts';
import type { Announcement } from './api.ts';
import { parseDocument } from './items.ts';
import { lookUp, texts } from './localized.ts';
import type { Feature } from './proxy.ts';

const body = z.object({ visible: z.boolean().nullish(), ...texts('url', 'title', 'description', 'imageUrl') });

const empty: Announcement = { announcement: '', url: '', visible: false, title: '', description: '', imageUrl: '' };

/** `GET /op/announcement`. An invisible announcement is empty (docs/specification/content.md#content-endpoints). */
export const announcementFeature: Feature<z.output<typeof body>, Announcement> = {
  path: '/api/cached/announcements',
  parse: (upstream) => parseDocument(body, upstream),
  localize: (record, language) => (record.visible === true ? toAnnouncement(record, language) : empty),
  empty,
};

function toAnnouncement(record: z.output<typeof body>, language: ContentLanguage): Announcement {
  const title = lookUp(record, 'title', language);
  return {
    announcement: title,
    url: lookUp(record, 'url', language),
    visible: true,
    title,
    description: lookUp(record, 'description', language),
    imageUrl: lookUp(record, 'imageUrl', language),
  };
}
