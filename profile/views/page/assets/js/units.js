// Quantities as people read them, as the command prints them.

function withUnit(value, units, factor) {
  let unit = 0;
  while (unit + 1 < units.length && value >= factor) {
    value /= factor;
    unit++;
  }
  return `${value.toFixed(unit === 0 && Number.isInteger(value) ? 0 : 1)} ${units[unit]}`;
}

function bytesText(bytes) {
  return withUnit(bytes, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'], 1024);
}

function timeText(ns) {
  return withUnit(ns, ['ns', 'us', 'ms', 's'], 1000);
}

const countFormat = new Intl.NumberFormat('en');

function countText(count) {
  return countFormat.format(Math.round(count));
}

function byteSecondsText(value) {
  return `${bytesText(value)} s`;
}

const quantityTexts = { bytes: bytesText, live: bytesText, byte_seconds: byteSecondsText };

function isKnown(quantity) {
  return quantity.key !== 'accesses' || data.accesses_counted;
}

function quantityText(key, value) {
  return (quantityTexts[key] || countText)(value);
}

function shareText(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : '0 %';
}

function unitText(unit, value) {
  return unit === 'ns' ? timeText(value) : bytesText(value);
}
