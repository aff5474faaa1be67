/*
 * The player at `/embed/KEY`, which pages of other sites frame. It shares with the page only `media/`, which the first load
 * of the page does without: whoever opens those sites loads these few kilobytes. A key of a private instance is followed by
 * its signature, which all requests repeat.
 */
import './embed.css';
import { languageName, loadPictures, type Picture, pictureStyle, pointedSeconds } from './media/index.ts';

/** What is used of `GET /api/Stream/Item/{key}`. */
interface Item {
  readonly title: string | null;
  readonly durationSeconds: number | null;
  readonly hasCover: boolean;
  /** Absent from earlier versions of the service. */
  readonly hasStoryboard?: boolean;
  readonly subtitles: readonly {
    readonly key: string;
    readonly language: string;
    readonly name: string | null;
    readonly isAutomatic: boolean;
  }[];
}

/** What a visitor reads when nothing plays, the button below it, and the name of the seek bar. */
const TEXTS: Readonly<Record<string, readonly [problem: string, retry: string, seek: string]>> = {
  en: ['This can’t be played right now.', 'Try again', 'Position'],
  de: ['Das lässt sich gerade nicht abspielen.', 'Erneut versuchen', 'Position'],
  fr: ['Lecture impossible pour le moment.', 'Réessayer', 'Position'],
  es: ['No se puede reproducir en este momento.', 'Reintentar', 'Posición'],
  pt: ['Não é possível reproduzir agora.', 'Tentar de novo', 'Posição'],
  ja: ['現在、再生できません。', '再試行', '再生位置'],
  zh: ['现在无法播放。', '重试', '播放位置'],
  ar: ['لا يمكن التشغيل الآن.', 'أعد المحاولة', 'الموضع'],
};
const MAX_ATTEMPTS = 6;
const MAX_WAIT_SECONDS = 30;

const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in TEXTS) ?? 'en';
const words = TEXTS[language] ?? ['', '', ''];
const create = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] => Object.assign(document.createElement(name), properties);
const heading = create('h1', { dir: 'auto' });
const video = create('video', { controls: true, playsInline: true });
const alert = create('div', { role: 'alert' });
const main = create('main', {});
const key = location.pathname.split('/')[2] ?? '';
const pathOf = (operation: string, keyed = key): string => `/api/Stream/${operation}/${keyed}`;

/** Asks again where the service says when, as while its host starts. @throws Error for any other failure */
async function loadItem(attempt = 1): Promise<Item> {
  const response = await fetch(pathOf('Item'));
  if (response.ok) return response.json();
  if (attempt === MAX_ATTEMPTS || ![429, 503].includes(response.status)) throw new Error(String(response.status));
  const seconds = Number(response.headers.get('retry-after')) || 2;
  await new Promise((done) => setTimeout(done, Math.min(seconds, MAX_WAIT_SECONDS) * 1000));
  return loadItem(attempt + 1);
}

function show({ title, durationSeconds, hasCover, hasStoryboard, subtitles }: Item): void {
  document.title = title ?? document.title;
  heading.textContent = title ?? '';
  video.ariaLabel = document.title;
  if (hasCover) video.poster = pathOf('Cover');
  // With a picture to show, nothing is read from the source before someone plays it.
  video.preload = hasCover ? 'none' : 'metadata';
  for (const subtitle of subtitles.toSorted((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic))) {
    const { key: subtitleKey, language: srclang, name } = subtitle;
    const label = name ?? languageName(srclang, language);
    video.append(create('track', { kind: 'subtitles', src: pathOf('Subtitle', subtitleKey), srclang, label }));
  }
  // A position such as `#t=90` is the browser's to read (Media Fragments).
  video.src = pathOf('Media') + location.hash;
  if (hasStoryboard && durationSeconds) main.append(createSeekBar(durationSeconds));
}

/** A seek bar with pictures, which the controls of browsers do not have. They are loaded once someone points at it. */
function createSeekBar(maxSeconds: number): HTMLElement {
  const bar = create('input', {
    type: 'range',
    max: String(maxSeconds),
    step: '1',
    value: '0',
    ariaLabel: words[2],
  });
  const picture = create('span', { className: 'seek-picture', hidden: true });
  let loading: Promise<readonly Picture[]> | undefined;
  let pointed: number | undefined;
  const point = async (seconds: number | undefined) => {
    pointed = seconds;
    if (seconds !== undefined) loading ??= loadPictures(pathOf('Storyboard'));
    const pictures = await loading;
    const style = pictures && pointed !== undefined ? pictureStyle(pictures, pointed, maxSeconds) : undefined;
    picture.hidden = !style;
    for (const [name, value] of Object.entries(style ?? {})) picture.style.setProperty(name, value);
  };
  const follow = () => {
    bar.value = String(video.currentTime);
    bar.ariaValueText = new Date(Math.floor(video.currentTime) * 1000).toISOString().slice(11, 19).replace(/^00:/, '');
  };
  follow();
  video.addEventListener('timeupdate', follow);
  video.addEventListener('seeking', follow);
  bar.addEventListener('input', () => {
    video.currentTime = bar.valueAsNumber;
    // Before data is loaded, nothing tells that it has changed.
    follow();
    void point(bar.valueAsNumber);
  });
  bar.addEventListener('pointermove', (event) => void point(pointedSeconds(event, bar, maxSeconds)));
  for (const event of ['pointerleave', 'blur']) bar.addEventListener(event, () => void point(undefined));
  // As in the controls of browsers, time runs to the right in every language.
  const row = create('div', { className: 'seek', dir: 'ltr' });
  row.append(bar, picture);
  return row;
}

function fail(): void {
  const button = create('button', { textContent: words[1] });
  button.addEventListener('click', () => location.reload());
  alert.replaceChildren(words[0], button);
}

document.documentElement.lang = language;
if (language === 'ar') document.documentElement.dir = 'rtl';
video.addEventListener('error', fail);
for (const event of ['play', 'pause'])
  video.addEventListener(event, () => main.classList.toggle('playing', !video.paused));
main.append(heading, video, alert);
document.body.append(main);
loadItem().then(show).catch(fail);
