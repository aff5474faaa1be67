/**
 * The link in a text that somebody typed, pasted or shared: the first that there is; `example.com/x` gets its scheme.
 * @returns undefined when there is none
 */
export function linkFromText(_text: string): string | undefined {
  return undefined;
}

/** The link of a page opened by `/?url=…`, a share target (`url`, `text`, `title`) or a bookmarklet. */
export function linkFromLocation(_search: string): string | undefined {
  return undefined;
}

/** The link of a drop or a paste. */
export function linkFromTransfer(_data: Pick<DataTransfer, 'getData'> | null): string | undefined {
  return undefined;
}

/** The address of this page for a link: `/?url=…` with what else is in the query kept out. */
export function shareableLocation(_link: string | undefined): string {
  return '/';
}
