/** The languages whose contents the rules of merging know. */
import { arabic } from './ar.ts';
import { german } from './de.ts';
import { english } from './en.ts';
import { spanish } from './es.ts';
import { french } from './fr.ts';
import { hebrew } from './he.ts';
import { hindi } from './hi.ts';
import { italian } from './it.ts';
import { japanese } from './ja.ts';
import { korean } from './ko.ts';
import type { Language } from './language.ts';
import { malay } from './ms.ts';
import { dutch } from './nl.ts';
import { polish } from './pl.ts';
import { portuguese } from './pt.ts';
import { russian } from './ru.ts';
import { swedish } from './sv.ts';
import { thai } from './th.ts';
import { turkish } from './tr.ts';
import { vietnamese } from './vi.ts';
import { chinese } from './zh.ts';

export const languages: readonly Language[] = [
  english,
  german,
  spanish,
  french,
  italian,
  portuguese,
  malay,
  russian,
  chinese,
  japanese,
  korean,
  arabic,
  hindi,
  dutch,
  vietnamese,
  swedish,
  hebrew,
  polish,
  turkish,
  thai,
];
