/** What the visitor has entered. */
export interface Entered {
  readonly key: string;
  /** On this device, rather than until the tab or the browser is closed. */
  readonly isRemembered: boolean;
}
