import chip from "./chips.module.css";

/** A small mark in two tones that the eye recognises again: made from the name, it means nothing else. */
export function ThreadMark({ name }: { name: string }) {
  const hash = hashOf(name);
  const first = hash % 12;
  const second = (first + 3 + (Math.floor(hash / 12) % 7)) % 12;
  return (
    <svg className={chip.mark} viewBox="0 0 10 10" aria-hidden="true">
      <path d="M5 0 10 5H0z" fill={`hsl(${first * 30} 45% 52%)`} />
      <path d="M5 10 0 5h10z" fill={`hsl(${second * 30} 45% 52%)`} />
    </svg>
  );
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
