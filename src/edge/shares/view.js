// The full view of a page of a share. Without this script, a tile leads to its file.
const view = document.querySelector('dialog');
const slides = [...view.querySelectorAll('figure')];
const [before, after] = view.querySelectorAll('.step');
let current = 0;

const go = (place, behavior) => slides[place]?.scrollIntoView({ behavior, block: 'nearest' });
before.onclick = () => go(current - 1);
after.onclick = () => go(current + 1);
view.querySelector('.close').onclick = () => view.close();
// The strip of slides is wider than an image, so a click beside the image closes the view, too.
view.onclick = ({ target }) => {
  if (target.matches('figure')) view.close();
};
view.onkeydown = (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  // In a video, they seek.
  if (step === undefined || event.target.matches('video')) return;
  event.preventDefault();
  go(current + step);
};

const watching = new IntersectionObserver(
  (changes) => {
    for (const { target, intersectionRatio } of changes) {
      const isShown = intersectionRatio > 0.5;
      if (!isShown) target.querySelector('video')?.pause();
      else current = slides.indexOf(target);
      // Links of slides that are out of view are not reached with the keyboard.
      target.inert = !isShown;
    }
    before.hidden = current === 0;
    after.hidden = current === slides.length - 1;
  },
  { threshold: 0.6 },
);
for (const slide of slides) watching.observe(slide);

// The back button of a phone closes the view.
addEventListener('popstate', () => view.close());
view.onclose = () => {
  if (history.state === 'view') history.back();
};
for (const link of document.querySelectorAll('a.tile'))
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    view.showModal();
    history.pushState('view', '');
    go(
      slides.findIndex((slide) => slide.querySelector('img, video').src === link.href),
      'instant',
    );
  };

const copy = document.querySelector('.copy');
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.onclick = async () => {
    await navigator.clipboard.writeText(document.querySelector('.about > .text').textContent);
    copy.textContent = copy.dataset.copied;
  };
}
