/** A bookmark that opens the page it is clicked on here. `page`: this page's origin. */
export function bookmarklet(page: string): string {
  return page;
}
