"""Print what an SVG file shows: texts, also those that are turned upwards, and rectangles with fill, width and title. It must fetch nothing."""
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"

with open(sys.argv[1], encoding="utf-8", errors="strict") as file:
    text = file.read()
assert "href" not in text and "url(" not in text
for element in tree.fromstring(text).iter():
    if element.tag == SVG + "text":
        print("text:", element.text + (" (upwards)" if "rotate(-90" in element.get("transform", "") else ""))
    elif element.tag == SVG + "rect" and len(element):
        print("rect", element.get("fill"), element.get("width") + ":", element.find(SVG + "title").text)
