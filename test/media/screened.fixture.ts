/** A media service that screens: with lists, a classifier, and two images to put on the lists. */
import { photo, pipe, scene } from '../image/images.fixture.ts';
import { saysClean, startClassifier, type TestClassifier } from './classifier.fixture.ts';
import { type Lists, openLists, pdqOfImage } from './lists.fixture.ts';
import { type MediaRig, startMedia } from './rig.fixture.ts';

export interface ScreenedRig {
  readonly rig: MediaRig;
  readonly lists: Lists;
  readonly classifier: TestClassifier;
  readonly image: Buffer;
  /** The PDQ hash of `image`. */
  readonly pdq: string;
  readonly other: Buffer;
  /** Empties the lists, and clears every image with the classifier. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** `classifierPath`: appended to the classifier's URL. */
export async function startScreened(pair: Parameters<typeof startMedia>[0], classifierPath = ''): Promise<ScreenedRig> {
  const lists = await openLists();
  const classifier = await startClassifier();
  const screeningUrl = `${classifier.url}${classifierPath}`;
  const rig = await startMedia(pair, { blockedHashes: lists.folder, screeningUrl });
  const image = await pipe(photo(160, 120)).jpeg().toBuffer();
  const other = await pipe(scene(160, 120)).jpeg().toBuffer();
  return {
    rig,
    lists,
    classifier,
    image,
    pdq: await pdqOfImage(image),
    other,
    async reset() {
      classifier.answer = saysClean;
      await lists.clear();
    },
    async close() {
      await rig.close();
      await classifier.close();
      await lists.close();
    },
  };
}
