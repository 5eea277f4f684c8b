/** The sign of a property. */

export function TagIcon() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="12"
      height="12"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      style={{ verticalAlign: -1.5 }}
    >
      <path d="M2.5 2.5h5.2l5.8 5.8-5.2 5.2-5.8-5.8zM5.6 5.6v.1" strokeLinejoin="round" strokeLinecap="round" />
    </svg>
  );
}
