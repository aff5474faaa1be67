/*
 * The player at `/embed/KEY`, which pages of other sites frame. It shares with the page only `media/`, which the first load
 * of the page does without: whoever opens those sites loads these few kilobytes. A key of a private instance is followed by
 * its signature, which all requests repeat.
 */
import './embed.css';
import { languageName } from './media/index.ts';

/** What is used of `GET /api/Stream/Item/{key}`. */
interface Item {
  readonly title: string | null;
  readonly hasCover: boolean;
  readonly subtitles: readonly {
    readonly key: string;
    readonly language: string;
    readonly name: string | null;
    readonly isAutomatic: boolean;
  }[];
}

/** What a visitor reads when nothing plays, and the button below it. */
const TEXTS: Readonly<Record<string, readonly [problem: string, retry: string]>> = {
  en: ['This can’t be played right now.', 'Try again'],
  de: ['Das lässt sich gerade nicht abspielen.', 'Erneut versuchen'],
  fr: ['Lecture impossible pour le moment.', 'Réessayer'],
  es: ['No se puede reproducir en este momento.', 'Reintentar'],
  pt: ['Não é possível reproduzir agora.', 'Tentar de novo'],
  ja: ['現在、再生できません。', '再試行'],
  zh: ['现在无法播放。', '重试'],
  ar: ['لا يمكن التشغيل الآن.', 'أعد المحاولة'],
};
const MAX_ATTEMPTS = 6;
const MAX_WAIT_SECONDS = 30;

const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in TEXTS) ?? 'en';
const words = TEXTS[language] ?? ['', ''];
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

function show({ title, hasCover, subtitles }: Item): void {
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
