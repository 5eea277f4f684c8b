/** Namespaces and properties as colored filter links. */

import type { CSSProperties } from "react";
import { TruncateMiddle } from "~/ui/truncate-middle";
import css from "./chips.module.css";
import { FilterLink } from "./filter-link";
import { type Label, useLabel } from "./labels";

/** A namespace as a filter link: a colored chip if the namespace is pinned, otherwise a neutral chip. */
export function NamespaceChip({ namespace }: { namespace: string }) {
  return (
    <FilterLink name="namespace" value={namespace} {...useChipStyle(namespace)} title={namespace}>
      <ChipContent namespace={namespace} />
    </FilterLink>
  );
}

/** A namespace that looks like its chip, for use within another link. */
export function NamespaceName({ namespace }: { namespace: string }) {
  return (
    <span {...useChipStyle(namespace)}>
      <ChipContent namespace={namespace} />
    </span>
  );
}

function useChipStyle(namespace: string): ChipStyle {
  const label = useLabel(namespace);
  return label === undefined ? { className: css.unpinned } : labelStyle(label);
}

type ChipStyle = { className: string | undefined; style?: CSSProperties };

/** The style of a label, in its color. */
export function labelStyle({ color }: Pick<Label, "color">): ChipStyle {
  const slot = `--label-${color ?? 1}`;
  return {
    className: css.label,
    style: { "--label-bg": `var(${slot}-bg)`, "--label-text": `var(${slot}-text)` } as CSSProperties,
  };
}

function ChipContent({ namespace }: { namespace: string }) {
  return (
    <>
      {useLabel(namespace) === undefined && <NamespaceIcon name={namespace} />}
      <TruncateMiddle text={namespace} />
    </>
  );
}

/** A property value as a filter link: outlined, so that it does not look like a namespace. */
export function PropertyChip({ name, value, bare = false }: { name: string; value: string; bare?: boolean }) {
  return (
    <FilterLink name={`property.${name}`} value={value} className={css.property} title={`${name}: ${value}`}>
      {!bare && (
        <span className={`muted ${css.name}`}>
          <TruncateMiddle text={name} />
        </span>
      )}{" "}
      <span className={css.value}>
        <TruncateMiddle text={value} />
      </span>
    </FilterLink>
  );
}

/** A small icon, by which users recognize a namespace. Its two colors are computed from the name. */
export function NamespaceIcon({ name }: { name: string }) {
  const hash = hashOf(name);
  const first = hash % 12;
  const second = (first + 3 + (Math.floor(hash / 12) % 7)) % 12;
  return (
    <svg viewBox="0 0 10 10" width="9" height="9" aria-hidden="true">
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
