/**
 * Generates images, refines the one that the user selects, and films it.
 *
 *     npm start                                   # in the repository, in another terminal
 *     npm run build:client && npm install --prefix examples/generate && npm run --prefix examples/generate dev
 */
import { AtelierError, createAtelier, createSession, type Generation } from '@atelier/client';

const session = createSession({ url: 'http://localhost:4003' });
const atelier = createAtelier({
  urls: { agent: 'http://localhost:4004' },
  credential: { accessToken: session.accessToken },
});

const find = <T extends Element>(selector: string) => document.querySelector(selector) as T;
const form = find<HTMLFormElement>('#order');
const models = find<HTMLSelectElement>('[name=model]');
const count = find<HTMLSelectElement>('[name=count]');
const cancel = find<HTMLButtonElement>('#cancel');
const status = find<HTMLElement>('#status');
const images = find<HTMLElement>('#images');

async function start(): Promise<void> {
  const offered = (await atelier.agent.listModels({ kind: 'image' })).models.filter(({ allowed }) => allowed);
  for (const { id, label, credits } of offered) models.add(new Option(`${label} (${credits} credits)`, id));
  /** From one to what the model makes in one order. */
  const showCounts = () => {
    const most = offered.find(({ id }) => id === models.value)?.maxCount ?? 1;
    const chosen = Math.min(Number(count.value || 4), most);
    const options = Array.from({ length: most }, (_, index) => new Option(String(index + 1)));
    count.replaceChildren(...options);
    count.value = String(chosen);
  };
  models.onchange = showCounts;
  showCounts();
}

/** Shows each image as soon as it is delivered, above the earlier ones. */
async function run(order: (options: Parameters<typeof atelier.images.generate>[1]) => Promise<Generation>) {
  const canceling = new AbortController();
  const section = document.createElement('section');
  images.prepend(section);
  cancel.hidden = false;
  cancel.onclick = () => canceling.abort();
  try {
    await order({ signal: canceling.signal, onProgress: (generation) => show(section, generation) });
  } catch (error) {
    if (!canceling.signal.aborted) status.textContent = error instanceof AtelierError ? error.message : String(error);
  } finally {
    cancel.hidden = true;
  }
}

function show(section: HTMLElement, { items, status: state, credits }: Generation): void {
  const ended = items.filter((item) => item.status !== 'running').length;
  status.textContent = `${state}: ${ended} of ${items.length}, ${credits} credits`;
  section.replaceChildren(
    ...items.map(({ assetId, url, mime, failure }) => {
      const figure = document.createElement('figure');
      if (url === null || assetId === null) figure.textContent = failure?.message ?? 'One moment …';
      else if (mime?.startsWith('video/'))
        figure.append(Object.assign(document.createElement('video'), { src: url, controls: true }));
      else {
        figure.append(Object.assign(document.createElement('img'), { src: url, alt: '' }));
        figure.append(
          button('Refine', () => refine(assetId)),
          button('Film', () => film(assetId)),
        );
      }
      return figure;
    }),
  );
}

function button(text: string, onclick: () => void): HTMLButtonElement {
  return Object.assign(document.createElement('button'), { textContent: text, onclick });
}

const promptOf = () => String(new FormData(form).get('prompt'));

function refine(assetId: string): void {
  const change = prompt('What should be different?');
  if (!change) return;
  const references = [`asset:${assetId}`];
  void run((options) => atelier.images.generate({ prompt: change, model: models.value, references }, options));
}

function film(assetId: string): void {
  const firstFrame = `asset:${assetId}`;
  void run((options) => atelier.videos.generate({ prompt: promptOf(), firstFrame }, options));
}

form.onsubmit = (event) => {
  event.preventDefault();
  void run((options) =>
    atelier.images.generate({ prompt: promptOf(), model: models.value, n: Number(count.value) }, options),
  );
};

start().catch((error: unknown) => {
  if (error instanceof AtelierError && error.status === 401) location.href = session.loginUrl(location.href);
  else status.textContent = String(error);
});
