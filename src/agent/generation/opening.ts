/** Opens the catalogue from `MODELS_FILE`, or from `IMAGE_MODEL_*` and `VIDEO_MODEL_*`. */
import type { Plan } from '#accounts/api.ts';
import { type FileEntry, type ImageEntry, keyOf, type VideoEntry } from '../modelsfile.ts';
import { type ImageGenerator, type Ratio, takesAll, type VideoGenerator } from '../providers/generators.ts';
import { type GeneratorSettings, openImages, openVideos } from '../providers/open.ts';
import { type Catalogue, type ImageModel, imageModel, type VideoModel, videoModel } from './catalogue.ts';

export interface CatalogueSettings {
  readonly file: readonly FileEntry[] | undefined;
  readonly image: GeneratorSettings & { readonly editName: string | undefined };
  readonly video: GeneratorSettings;
  readonly imageCredits: number;
  readonly videoCredits: number;
  readonly videoPlans: readonly Plan[];
  readonly readKey: (variable: string) => string | undefined;
  readonly offlineImages: ImageGenerator;
  readonly offlineVideos: VideoGenerator;
}

/** What the models of OpenAI's wire and of most packages can do. */
const wideRatios: readonly Ratio[] = ['16:9', '9:16'];
const openAiDurations = [4, 8, 12];

/** Throws StartFault for a key that is not set, or a package without such models. */
export async function openCatalogue(settings: CatalogueSettings): Promise<Catalogue> {
  const { file = [] } = settings;
  const images = file.filter((entry): entry is ImageEntry => entry.kind === 'image');
  const videos = file.filter((entry): entry is VideoEntry => entry.kind === 'video');
  const [firstImage = await defaultImage(settings), ...moreImages] = await Promise.all(
    images.map((entry) => openImage(settings, entry)),
  );
  const [firstVideo = await defaultVideo(settings), ...moreVideos] = await Promise.all(
    videos.map((entry) => openVideo(settings, entry)),
  );
  return { images: [firstImage, ...moreImages], videos: [firstVideo, ...moreVideos] };
}

async function defaultImage({ image, imageCredits, offlineImages }: CatalogueSettings): Promise<ImageModel> {
  const names = namesOf(image, 'image', 'offline');
  return imageModel(await openImages(image, offlineImages), { ...names, model: image.name, credits: imageCredits });
}

async function defaultVideo(settings: CatalogueSettings): Promise<VideoModel> {
  const { video, videoCredits: credits, videoPlans: plans, offlineVideos } = settings;
  const generator = await openVideos(video, offlineVideos);
  const offer = { ...namesOf(video, 'video', 'offline-video'), credits, plans };
  const isOpenAi = video.provider === 'openai-compatible';
  if (isOpenAi && video.url === 'offline') return videoModel(generator, offer);
  return videoModel(generator, { ...offer, ratios: wideRatios, durations: isOpenAi ? openAiDurations : [] });
}

/** The label of the offline renderer is the name that it writes to its assets. */
function namesOf({ name, url, provider }: GeneratorSettings, usual: string, offline: string) {
  if (name === undefined && provider === 'openai-compatible' && url === 'offline')
    return { id: offline, label: 'Offline renderer' };
  return { id: name ?? usual };
}

async function openImage(settings: CatalogueSettings, entry: ImageEntry): Promise<ImageModel> {
  const { id, label, plans, fallback, ratios, maxCount, maxReferences, costUsd, editModel } = entry;
  const provider = { ...providerOf(settings.readKey, entry), editName: editModel };
  const generator = await openImages(provider, settings.offlineImages);
  return imageModel(generator, {
    ...{ id, model: entry.model },
    credits: entry.credits ?? settings.imageCredits,
    ...defined({ label, plans, fallback, ratios, maxCount, costUsd, maxReferences: atMost(generator, maxReferences) }),
  });
}

async function openVideo(settings: CatalogueSettings, entry: VideoEntry): Promise<VideoModel> {
  const { id, label, fallback, ratios = wideRatios, durations, maxReferences, costUsd } = entry;
  const generator = await openVideos(providerOf(settings.readKey, entry), settings.offlineVideos);
  return videoModel(generator, {
    ...{ id, model: entry.model },
    credits: entry.credits ?? settings.videoCredits,
    plans: entry.plans ?? settings.videoPlans,
    ratios,
    ...defined({ label, fallback, durations, costUsd, maxReferences: atMost(generator, maxReferences) }),
  });
}

/** An entry cannot promise more than its provider's interface has. */
const atMost = ({ takes = takesAll }: ImageGenerator | VideoGenerator, references: number | undefined) =>
  references === undefined ? undefined : Math.min(references, takes.maxReferences);

/** Throws StartFault for a key that is not set. */
export function providerOf(readKey: CatalogueSettings['readKey'], entry: ImageEntry | VideoEntry) {
  const { provider = 'openai-compatible', baseUrl = 'offline', model, headers, query } = entry;
  return { provider, url: baseUrl, apiKey: keyOf(entry, readKey), name: model, headers, query };
}

/** Without the fields that are absent, so that defaults apply. */
function defined<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
