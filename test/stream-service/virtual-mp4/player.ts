/** The members of a media element that tests use: the DOM's own types are not loaded here. */
interface MediaElement {
  readonly readyState: number;
  readonly duration: number;
  currentTime: number;
  readonly error: { message: string } | null;
  play(): Promise<void>;
  pause(): void;
  addEventListener(name: string, listener: () => void): void;
}

/**
 * Plays the beginning of a media element's file, then seeks. Runs in the page, so it refers to nothing outside itself.
 * @param targets seconds
 * @returns the duration, and where each seek ended, in seconds
 */
export async function playAndSeek(element: unknown, targets: readonly number[]) {
  const player = element as MediaElement;
  const event = (name: string) =>
    new Promise<void>((resolve, reject) => {
      player.addEventListener('error', () => reject(new Error(player.error?.message)));
      player.addEventListener(name, resolve);
    });
  if (player.readyState < 1) await event('loadedmetadata');
  const hasPlayed = event('timeupdate');
  await player.play();
  await hasPlayed;
  player.pause();
  const seeks: number[] = [];
  for (const seconds of targets) {
    const isThere = event('seeked');
    player.currentTime = seconds;
    await isThere;
    seeks.push(player.currentTime);
  }
  return { duration: player.duration, seeks };
}
