// The full view of a page of a share, and its buttons that copy. Without this script, a tile leads to its file.
const view = document.querySelector('dialog');
if (view) {
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
}

// A page of an image has one button for its prompt, and a conversation one for each of its codes.
const copy = document.querySelector('.copy');
if (copy && navigator.clipboard) {
  const enable = (button, text) => {
    const label = button.textContent;
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = button.dataset.copied;
      setTimeout(() => {
        button.textContent = label;
      }, 2000);
    };
  };
  const prompt = document.querySelector('.about > .text');
  if (prompt) enable(copy, prompt.textContent);
  for (const code of document.querySelectorAll('article pre')) {
    const [box, button] = [document.createElement('div'), copy.cloneNode(true)];
    box.className = 'code';
    code.replaceWith(box);
    box.append(code, button);
    enable(button, code.textContent);
  }
}
