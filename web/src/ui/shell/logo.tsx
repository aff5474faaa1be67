/** The logo: a reel with a play sign. Mirrored in right-to-left pages. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="logo-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="logo-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);

/** The decorative reel of the start page. */
export const Reel = () => (
  <div class="reel" aria-hidden="true">
    <svg viewBox="0 0 304 304" aria-hidden="true">
      <circle class="reel-disc" cx="152" cy="152" r="149.75" />
      {HOLES.map(([x, y]) => (
        <circle key={x} class="reel-hole" cx={x} cy={y} r="40" />
      ))}
      <circle class="reel-hole" cx="152" cy="152" r="14" />
    </svg>
  </div>
);

/** Five, evenly around the hub. */
const HOLES = Array.from({ length: 5 }, (_, turn) => {
  const angle = (turn / 5) * 2 * Math.PI - Math.PI / 2;
  return [152 + 92 * Math.cos(angle), 152 + 92 * Math.sin(angle)] as const;
});
