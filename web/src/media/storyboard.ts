/** A picture of a position, on a sheet of pictures. */
export interface Picture {
  readonly startSeconds: number;
  readonly sheet: string;
  /** Pixels on the sheet. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const CUE = /^(\d+):(\d\d):([\d.]+) --> .*\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/gm;

/** Loads the pictures of an item; none where it has none, or they cannot be read: they are an extra. */
export async function loadPictures(address: string): Promise<readonly Picture[]> {
  try {
    const response = await fetch(address);
    const cues = response.ok ? [...(await response.text()).matchAll(CUE)] : [];
    return cues.map(([, hours, minutes, seconds, sheet = '', ...place]): Picture => {
      const [x = 0, y = 0, width = 0, height = 0] = place.map(Number);
      const startSeconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
      return { startSeconds, sheet: new URL(sheet, response.url).href, x, y, width, height };
    });
  } catch {
    return [];
  }
}

/** Styles of an element that shows the picture of a position; undefined without one. `--at` is the place of the position. */
export function pictureStyle(pictures: readonly Picture[], seconds: number, maxSeconds: number) {
  const picture = pictures.findLast(({ startSeconds }) => startSeconds <= seconds);
  if (!picture) return undefined;
  return {
    '--at': `${(100 * seconds) / maxSeconds}%`,
    '--picture': `${picture.width}px`,
    'block-size': `${picture.height}px`,
    'background-image': `url("${picture.sheet}")`,
    'background-position': `${-picture.x}px ${-picture.y}px`,
  };
}

/** The position below a pointer on a bar. */
export function pointedSeconds({ clientX }: MouseEvent, bar: Element, maxSeconds: number): number {
  const { left, width } = bar.getBoundingClientRect();
  return Math.min(Math.max((clientX - left) / width, 0), 1) * maxSeconds;
}
