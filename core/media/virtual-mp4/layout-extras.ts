/** What a layout has besides the tracks of its sources. */
export interface LayoutExtras {
  /** `udta`. */
  readonly tags?: Buffer;
}
